-- Taken for a minute: whoever takes it delivers it, or it is taken again.
-- name: claim
WITH taken AS (
    SELECT announcement_id, guild_id FROM deliveries
    WHERE delivered_at IS NULL AND next_at <= now() AND guild_id = ANY(%(guild_ids)s)
    ORDER BY announcement_id LIMIT %(limit)s
    FOR UPDATE SKIP LOCKED
)
UPDATE deliveries d SET next_at = now() + interval '1 minute', tries = d.tries + 1
FROM taken t, announcements a, leaderboards b
WHERE d.announcement_id = t.announcement_id AND d.guild_id = t.guild_id
    AND a.id = t.announcement_id AND b.id = a.leaderboard_id
RETURNING d.announcement_id, d.guild_id, d.tries, a.kind, a.data, b.name AS board;

-- name: delivered
UPDATE deliveries SET delivered_at = now(), message_id = %(message_id)s
WHERE announcement_id = %(announcement_id)s AND guild_id = %(guild_id)s;

-- name: failed
UPDATE deliveries SET next_at = now() + make_interval(secs => %(pause_s)s)
WHERE announcement_id = %(announcement_id)s AND guild_id = %(guild_id)s;
