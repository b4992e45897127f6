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

-- name: by_identities
SELECT i.subject, u.id, u.name, u.role, u.created_at, u.banned_at
FROM identities i JOIN users u ON u.id = i.user_id
WHERE i.provider = %(provider)s AND i.subject = ANY(%(subjects)s);

-- name: lock_identities
LOCK TABLE identities IN SHARE ROW EXCLUSIVE MODE;

-- name: add_identity
INSERT INTO identities (provider, subject, user_id)
VALUES (%(provider)s, %(subject)s, %(user_id)s)
ON CONFLICT DO NOTHING;

-- What it was to be told of the account's boards in Discord, it isn't told any more.
-- name: remove_identity
WITH watched AS (
    DELETE FROM watches
    WHERE author_id = %(user_id)s AND user_id::text = %(subject)s AND %(provider)s = 'discord'
)
DELETE FROM identities
WHERE user_id = %(user_id)s AND provider = %(provider)s AND subject = %(subject)s;

-- name: has_lasting_token
SELECT 1 AS found FROM tokens
WHERE user_id = %(user_id)s AND kind = 'token'
    AND least(revoked_at, expires_at, token_ends_at(parent_id)) IS NULL
LIMIT 1;

-- name: add_token
INSERT INTO tokens (user_id, name, hash) VALUES (%(user_id)s, %(name)s, %(hash)s);

-- name: by_token
SELECT id, name, role, created_at, banned_at FROM token_owners
WHERE hash = %(hash)s AND kind = %(kind)s;

-- name: renew_token
UPDATE tokens SET expires_at = now() + make_interval(secs => %(lasts_s)s)
WHERE hash = %(hash)s AND revoked_at IS NULL;

-- name: ban
UPDATE users SET banned_at = CASE WHEN %(banned)s THEN coalesce(banned_at, now()) END
WHERE id = %(user_id)s
RETURNING id, name, role, created_at, banned_at;

-- name: by_id
SELECT id, name, role, created_at, banned_at FROM users WHERE id = %(user_id)s;

-- name: page
SELECT id, name, role, created_at, banned_at FROM users
WHERE id > %(after_id)s
    AND (%(search)s::text IS NULL OR strpos(lower(name), lower(%(search)s::text)) > 0)
ORDER BY id LIMIT %(limit)s;

-- name: set_role
UPDATE users SET role = %(role)s WHERE id = %(user_id)s
RETURNING id, name, role, created_at, banned_at;

-- name: rename
UPDATE users SET name = %(name)s
WHERE id = %(user_id)s
    AND NOT EXISTS (SELECT 1 FROM users o WHERE lower(o.name) = lower(%(name)s) AND o.id <> %(user_id)s)
RETURNING id, name, role, created_at, banned_at;

-- name: author_page
SELECT page_is_private FROM users WHERE id = %(user_id)s;

-- name: set_author_page
UPDATE users SET page_is_private = %(private)s WHERE id = %(user_id)s;

-- name: identities
SELECT provider, subject, created_at FROM identities
WHERE user_id = %(user_id)s AND provider <> 'machine' ORDER BY provider, subject;

-- name: lock_admins
SELECT id FROM users WHERE role = 'admin' AND banned_at IS NULL ORDER BY id FOR NO KEY UPDATE;

-- name: has_admin
SELECT EXISTS (SELECT 1 FROM users WHERE role = 'admin' AND banned_at IS NULL) AS found;

-- The name alone proves nothing: everybody names their own tokens.
-- name: is_operator
SELECT EXISTS (
    SELECT 1 FROM identities i JOIN tokens t ON t.user_id = i.user_id
    WHERE i.user_id = %(user_id)s AND i.provider = 'machine'
        AND i.subject = t.user_id || ':' || t.name
        AND t.revoked_at IS NULL AND coalesce(t.expires_at > now(), true)
) AS found;

-- Always in this order, so that two of these never deadlock: those that are offered come first.
-- name: refresh_standings
SELECT refresh_standing(ranked.leaderboard_id, ranked.device, %(user_id)s)
FROM (
    SELECT DISTINCT d.device IS NULL AS is_removed, s.leaderboard_id, r.device
    FROM submissions s JOIN runs r ON r.submission_id = s.id
    LEFT JOIN leaderboard_devices d ON d.leaderboard_id = s.leaderboard_id AND d.device = r.device
    WHERE s.author_id = %(user_id)s AND s.mode = 'leaderboard'
    ORDER BY 1, 2, 3
) ranked;
