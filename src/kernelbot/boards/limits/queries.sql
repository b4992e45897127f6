-- name: of_board
SELECT category, max_per_hour FROM rate_limits WHERE leaderboard_id = %(leaderboard_id)s
ORDER BY category;

-- name: set
INSERT INTO rate_limits (leaderboard_id, category, max_per_hour)
VALUES (%(leaderboard_id)s, %(category)s, %(max_per_hour)s)
ON CONFLICT (leaderboard_id, category) DO UPDATE SET max_per_hour = excluded.max_per_hour;

-- name: remove
DELETE FROM rate_limits WHERE leaderboard_id = %(leaderboard_id)s AND category = %(category)s;

-- name: use
SELECT use_limit(%(leaderboard_id)s, %(author_id)s, %(category)s, %(max_per_hour)s) AS wait_s;
