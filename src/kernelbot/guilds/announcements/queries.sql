-- Taken for a minute: whoever takes it delivers it, or it is taken again.
-- name: claim
WITH taken AS (
    SELECT announcement_id, guild_id FROM deliveries
    WHERE delivered_at IS NULL AND next_at <= now() AND guild_id = ANY(%(guild_ids)s)
    ORDER BY announcement_id LIMIT %(limit)s
    FOR UPDATE SKIP LOCKED
)
UPDATE deliveries d SET next_at = now() + interval '1 minute', tries = d.tries + 1
FROM taken t, announcements a LEFT JOIN leaderboards b ON b.id = a.leaderboard_id
WHERE d.announcement_id = t.announcement_id AND d.guild_id = t.guild_id
    AND a.id = t.announcement_id
RETURNING d.announcement_id, d.guild_id, d.tries, a.kind, a.data, a.user_id, b.name AS board;

-- What a guild doesn't want to be told, so that it isn't told later either; and news that couldn't be
-- told for a day, as Discord refused it or nobody told it: rankings are others by then.
-- name: skip_unwanted
UPDATE deliveries d SET delivered_at = now()
FROM announcements a LEFT JOIN leaderboards b ON b.id = a.leaderboard_id, guilds g
WHERE d.announcement_id = a.id AND d.guild_id = g.id AND d.delivered_at IS NULL
    AND g.id = ANY(%(guild_ids)s) AND (
        (a.kind = 'podium' AND (NOT g.tell_podium OR b.visibility <> 'public'))
        OR (a.kind = 'board' AND NOT g.tell_boards)
        OR (a.kind IN ('podium', 'board') AND g.competition_id <> coalesce(b.competition_id, 0))
        OR (a.kind <> 'board' AND a.created_at < now() - interval '1 day')
    );

-- A summary for each guild whose week is over, on Mondays from nine o'clock on in its time zone.
-- name: add_weekly
WITH due AS (
    UPDATE guilds SET weekly_at = %(at)s
    WHERE id = ANY(%(guild_ids)s) AND tell_weekly
        AND weekly_at < %(at)s::timestamptz - interval '6 days 12 hours'
        AND extract(isodow FROM %(at)s::timestamptz AT TIME ZONE time_zone) = 1
        AND extract(hour FROM %(at)s::timestamptz AT TIME ZONE time_zone) >= 9
    RETURNING id
), added AS (
    INSERT INTO announcements (kind, data) SELECT 'weekly', '{}' FROM due LIMIT 1
    RETURNING id
)
INSERT INTO deliveries (announcement_id, guild_id) SELECT added.id, due.id FROM added, due;

-- What happened within a week on boards that everyone sees and that still run, and that the guild
-- is about.
-- name: week
SELECT b.name AS board, d.device,
    (
        SELECT count(*) FROM submissions s
        WHERE s.leaderboard_id = b.id AND s.created_at > now() - interval '7 days'
            AND EXISTS (SELECT 1 FROM runs r WHERE r.submission_id = s.id AND r.device = d.device)
    ) AS submissions,
    d.authors,
    (
        SELECT u.name FROM standings st JOIN users u ON u.id = st.author_id
        WHERE st.leaderboard_id = b.id AND st.device = d.device
        ORDER BY st.score_s, st.achieved_at, st.author_id LIMIT 1
    ) AS leader,
    (
        SELECT min(st.score_s) FROM standings st
        WHERE st.leaderboard_id = b.id AND st.device = d.device
    ) AS leader_s
FROM leaderboards b JOIN leaderboard_devices d ON d.leaderboard_id = b.id
LEFT JOIN guilds g ON g.id = %(guild_id)s
WHERE b.visibility = 'public' AND (b.deadline IS NULL OR b.deadline > now())
    AND coalesce(g.competition_id, b.competition_id, 0) = coalesce(b.competition_id, 0)
ORDER BY submissions DESC, b.name, d.position LIMIT %(limit)s;

-- Whoever acts as another account than before watches for that one from now on.
-- name: watch
WITH before AS (
    DELETE FROM watches
    WHERE leaderboard_id = %(leaderboard_id)s AND user_id = %(user_id)s
        AND author_id <> %(author_id)s
)
INSERT INTO watches (leaderboard_id, author_id, guild_id, user_id)
VALUES (%(leaderboard_id)s, %(author_id)s, %(guild_id)s, %(user_id)s)
ON CONFLICT DO NOTHING;

-- name: stop_watching
DELETE FROM watches WHERE leaderboard_id = %(leaderboard_id)s AND author_id = %(author_id)s;

-- name: delivered
UPDATE deliveries SET delivered_at = now(), message_id = %(message_id)s
WHERE announcement_id = %(announcement_id)s AND guild_id = %(guild_id)s;

-- name: failed
UPDATE deliveries SET next_at = now() + make_interval(secs => %(pause_s)s)
WHERE announcement_id = %(announcement_id)s AND guild_id = %(guild_id)s;

-- name: threads
SELECT b.id AS board_id, b.name AS board, coalesce(b.deadline <= now(), false) AS ended,
    d.message_id AS thread_id
FROM leaderboards b
LEFT JOIN announcements a ON a.leaderboard_id = b.id AND a.kind = 'board'
LEFT JOIN deliveries d ON d.announcement_id = a.id AND d.guild_id = %(guild_id)s
LEFT JOIN guilds g ON g.id = %(guild_id)s
WHERE b.visibility = 'public'
    AND coalesce(g.competition_id, b.competition_id, 0) = coalesce(b.competition_id, 0)
ORDER BY b.id;

-- Boards that are older than the guild have no announcement yet.
-- name: set_thread
WITH found AS (
    INSERT INTO announcements (kind, leaderboard_id, data)
    VALUES ('board', %(leaderboard_id)s, '{}')
    ON CONFLICT (leaderboard_id) WHERE kind = 'board' DO UPDATE SET kind = excluded.kind
    RETURNING id
)
INSERT INTO deliveries (announcement_id, guild_id, delivered_at, message_id)
SELECT id, %(guild_id)s, CASE WHEN %(message_id)s::bigint IS NOT NULL THEN now() END,
    %(message_id)s
FROM found
ON CONFLICT (announcement_id, guild_id) DO UPDATE SET
    delivered_at = excluded.delivered_at, message_id = excluded.message_id, next_at = now(),
    tries = 0;

-- name: wake
SELECT pg_notify('kernelbot_events', 'announcements');
