-- name: of_user
SELECT id, kind, name, created_at, parent_id,
    least(expires_at, token_ends_at(parent_id)) AS expires_at
FROM tokens
WHERE user_id = %(user_id)s AND kind <> 'setting' AND revoked_at IS NULL
ORDER BY id DESC;

-- A session passes on what opened it, so that logging out ends nothing that was made in it.
-- name: maker
SELECT CASE kind WHEN 'session' THEN parent_id ELSE id END AS parent_id
FROM tokens
WHERE hash = %(hash)s
    AND (least(revoked_at, expires_at, token_ends_at(parent_id)) > now()) IS NOT FALSE
FOR SHARE;

-- name: ends_at
SELECT token_ends_at(id) AS ends_at FROM tokens WHERE hash = %(hash)s;

-- name: ends_by_itself
SELECT kind = 'setting' OR token_ends_at(id) IS NOT NULL AS ends
FROM tokens WHERE id = %(token_id)s;

-- A statement of its own, since one that waited still sees the state from before.
-- name: lock_owner
SELECT 1 AS locked FROM users WHERE id = %(user_id)s FOR NO KEY UPDATE;

-- name: add
INSERT INTO tokens (user_id, kind, name, hash, expires_at, parent_id)
SELECT %(user_id)s, 'token', %(name)s, %(hash)s, %(expires_at)s, %(parent_id)s::bigint
WHERE (
    SELECT count(*) FROM tokens
    WHERE user_id = %(user_id)s AND kind = 'token' AND revoked_at IS NULL
) < %(max_tokens)s
RETURNING id, kind, name, created_at, parent_id,
    least(expires_at, token_ends_at(parent_id)) AS expires_at;

-- name: add_session
INSERT INTO tokens (user_id, kind, name, hash, expires_at, parent_id)
VALUES (
    %(user_id)s, 'session', 'web login', %(hash)s,
    now() + make_interval(secs => %(lasts_s)s), %(parent_id)s
);

-- name: make_way
DELETE FROM tokens WHERE id IN (
    SELECT id FROM tokens WHERE user_id = %(user_id)s AND kind = 'session'
    ORDER BY id DESC OFFSET %(max_sessions)s
);

-- name: add_setting
INSERT INTO tokens (user_id, kind, name, hash)
VALUES (%(user_id)s, 'setting', %(name)s, %(hash)s)
ON CONFLICT (hash) DO UPDATE SET name = excluded.name
RETURNING id;

-- name: forget_settings
DELETE FROM tokens WHERE kind = 'setting' AND hash IS DISTINCT FROM %(hash)s;

-- What was made with it is marked as well, so that nobody lists it.
-- name: revoke
WITH RECURSIVE ended AS (
    SELECT id FROM tokens
    WHERE id = %(token_id)s AND user_id = %(user_id)s AND kind <> 'setting' AND revoked_at IS NULL
    UNION ALL
    SELECT t.id FROM ended JOIN tokens t ON t.parent_id = ended.id
), revoked AS (
    UPDATE tokens t SET revoked_at = now() FROM ended
    WHERE t.id = ended.id AND t.revoked_at IS NULL
    RETURNING t.id, t.kind, t.name, t.created_at, t.parent_id, t.expires_at
)
SELECT * FROM revoked WHERE id = %(token_id)s;

-- name: by_hash
SELECT id, user_id FROM tokens WHERE hash = %(hash)s;

-- name: forget_expired
DELETE FROM tokens
WHERE user_id = %(user_id)s AND (revoked_at IS NOT NULL OR expires_at < now());
