DROP FUNCTION is_member;
DROP TABLE invites, invite_boards, invite_batches, rate_uses, rate_limits, platform;
DROP TYPE limit_category;
