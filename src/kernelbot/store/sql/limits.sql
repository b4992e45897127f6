-- name: of_board
SELECT category, max_per_hour FROM rate_limits WHERE leaderboard_id = %(leaderboard_id)s
ORDER BY category;

-- name: set
INSERT INTO rate_limits (leaderboard_id, category, max_per_hour)
VALUES (%(leaderboard_id)s, %(category)s, %(max_per_hour)s)
ON CONFLICT (leaderboard_id, category) DO UPDATE SET max_per_hour = excluded.max_per_hour;

-- name: remove
DELETE FROM rate_limits WHERE leaderboard_id = %(leaderboard_id)s AND category = %(category)s;

-- name: of_category
SELECT max_per_hour FROM rate_limits
WHERE leaderboard_id = %(leaderboard_id)s AND category = %(category)s;

-- One at a time for each author, board and category, until the transaction ends.
-- name: lock
SELECT pg_advisory_xact_lock(
    hashtextextended('limit:' || %(leaderboard_id)s || ':' || %(author_id)s || ':' || %(category)s, 0)
);

-- What lies ahead is of before the clock was put back: nobody waits for it.
-- name: forget_old
DELETE FROM rate_uses
WHERE leaderboard_id = %(leaderboard_id)s AND author_id = %(author_id)s
    AND category = %(category)s
    AND (
        used_at <= clock_timestamp() - interval '1 hour'
        OR used_at > clock_timestamp() + interval '1 minute'
    );

-- The wait is that for the oldest of the last `max_per_hour` to be an hour old.
-- name: wait_s
SELECT extract(epoch FROM used_at + interval '1 hour' - clock_timestamp())::float8 AS wait_s
FROM rate_uses
WHERE leaderboard_id = %(leaderboard_id)s AND author_id = %(author_id)s
    AND category = %(category)s
ORDER BY used_at DESC OFFSET %(max_per_hour)s - 1 LIMIT 1;

-- name: use
INSERT INTO rate_uses (leaderboard_id, author_id, category, used_at)
VALUES (%(leaderboard_id)s, %(author_id)s, %(category)s, clock_timestamp());
