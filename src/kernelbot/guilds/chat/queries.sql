-- name: claim
INSERT INTO chat_answers (
    message_id, guild_id, channel_id, user_id, user_name, token, token_expires_at
)
VALUES (
    %(message_id)s, %(guild_id)s, %(channel_id)s, %(user_id)s, %(user_name)s, %(token)s,
    %(token_expires_at)s
)
ON CONFLICT (message_id) DO NOTHING;

-- name: release
DELETE FROM chat_answers WHERE message_id = %(message_id)s AND submission_id IS NULL;

-- name: submitted
UPDATE chat_answers SET submission_id = %(submission_id)s
WHERE message_id = %(message_id)s AND submission_id IS NULL AND given_up_at IS NULL;

-- Waits for whoever is submitting for it; then it is theirs.
-- name: give_up
UPDATE chat_answers SET given_up_at = now()
WHERE message_id = %(message_id)s AND submission_id IS NULL;

-- name: one
SELECT message_id, guild_id, channel_id, user_id, user_name, token, token_expires_at,
    submission_id, public_message_id
FROM chat_answers WHERE message_id = %(message_id)s AND done_at IS NULL;

-- name: went_public
UPDATE chat_answers SET public_message_id = %(public_message_id)s, token = NULL
WHERE message_id = %(message_id)s;

-- name: done
UPDATE chat_answers SET done_at = now(), token = NULL WHERE message_id = %(message_id)s;

-- name: open
SELECT message_id, guild_id, channel_id, user_id, user_name, token, token_expires_at,
    submission_id, public_message_id
FROM chat_answers
WHERE done_at IS NULL AND guild_id = ANY(%(guild_ids)s)
ORDER BY created_at;
