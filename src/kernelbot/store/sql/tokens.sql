-- name: of_user
SELECT id, name, created_at, expires_at FROM tokens
WHERE user_id = %(user_id)s AND revoked_at IS NULL
ORDER BY id DESC;

-- name: add
INSERT INTO tokens (user_id, name, hash, expires_at)
SELECT %(user_id)s, %(name)s, %(hash)s, %(expires_at)s
WHERE (SELECT count(*) FROM tokens WHERE user_id = %(user_id)s AND revoked_at IS NULL)
    < %(max_tokens)s
RETURNING id, name, created_at, expires_at;

-- name: revoke
UPDATE tokens SET revoked_at = now()
WHERE id = %(token_id)s AND user_id = %(user_id)s AND revoked_at IS NULL
RETURNING id, name, created_at, expires_at;

-- name: forget_expired
DELETE FROM tokens
WHERE user_id = %(user_id)s AND (revoked_at IS NOT NULL OR expires_at < now());
