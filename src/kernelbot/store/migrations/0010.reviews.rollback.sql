DROP TABLE evidence;
DROP TRIGGER submissions_review ON submissions;
DROP FUNCTION guard_review_transition;
DROP TABLE review_transitions;
DROP INDEX submissions_in_review;
ALTER TABLE submissions
    DROP CONSTRAINT review_names_its_reason,
    DROP COLUMN reviewed_at,
    DROP COLUMN review_reason;
DROP TABLE audit_log;
