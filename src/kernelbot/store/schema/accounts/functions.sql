-- When a token ends, or ended: with what it was made with at the latest. NULL: never.
CREATE FUNCTION token_ends_at(asked bigint) RETURNS timestamptz
LANGUAGE sql STABLE STRICT PARALLEL SAFE AS $$
    WITH RECURSIVE made AS (
        SELECT parent_id, least(revoked_at, expires_at) AS ends_at FROM tokens WHERE id = asked
        UNION ALL
        SELECT t.parent_id, least(t.revoked_at, t.expires_at)
        FROM made JOIN tokens t ON t.id = made.parent_id
    )
    SELECT min(ends_at) FROM made
$$;

-- Whose token or browser's session something is, by its hash and kind, if neither it nor what it was made
-- with has ended.
CREATE VIEW token_owners AS
SELECT t.hash, t.kind, u.id, u.name, u.role, u.created_at, u.banned_at
FROM tokens t JOIN users u ON u.id = t.user_id
WHERE (least(t.revoked_at, t.expires_at, token_ends_at(t.parent_id)) > now()) IS NOT FALSE;
