-- name: create
INSERT INTO users (name, role) VALUES (%(name)s, %(role)s)
ON CONFLICT DO NOTHING
RETURNING id, name, role, created_at, banned_at;

-- name: by_name
SELECT id, name, role, created_at, banned_at FROM users WHERE lower(name) = lower(%(name)s);

-- name: by_identity
SELECT u.id, u.name, u.role, u.created_at, u.banned_at
FROM identities i JOIN users u ON u.id = i.user_id
WHERE i.provider = %(provider)s AND i.subject = %(subject)s;

-- name: lock_identities
LOCK TABLE identities IN SHARE ROW EXCLUSIVE MODE;

-- name: add_identity
INSERT INTO identities (provider, subject, user_id)
VALUES (%(provider)s, %(subject)s, %(user_id)s)
ON CONFLICT DO NOTHING;

-- name: add_token
INSERT INTO tokens (user_id, name, hash, expires_at)
VALUES (%(user_id)s, %(name)s, %(hash)s, %(expires_at)s);

-- name: by_token
SELECT u.id, u.name, u.role, u.created_at, u.banned_at
FROM tokens t JOIN users u ON u.id = t.user_id
WHERE t.hash = %(hash)s AND t.revoked_at IS NULL
    AND (t.expires_at IS NULL OR t.expires_at > now());

-- name: revoke_token
UPDATE tokens SET revoked_at = now() WHERE hash = %(hash)s AND revoked_at IS NULL;

-- name: ban
UPDATE users SET banned_at = CASE WHEN %(banned)s THEN coalesce(banned_at, now()) END
WHERE id = %(user_id)s
RETURNING id, name, role, created_at, banned_at;
