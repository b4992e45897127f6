-- name: by_id
SELECT id, name, page_is_private FROM users WHERE id = %(author_id)s;

-- name: by_name
SELECT id, name, page_is_private FROM users WHERE lower(name) = lower(%(name)s);

-- What is here of an author is filtered by boards that the asker may see, as `boards.service` says.
-- name: standings
SELECT s.leaderboard_id, s.device, s.submission_id, s.author_id, u.name AS author, s.score_s,
    s.achieved_at, own.unverified,
    CASE WHEN NOT u.page_is_private THEN u.id END AS page_id,
    CASE WHEN own.ci_low_s IS NOT NULL THEN ARRAY[s.ci_low_s, s.ci_high_s] END AS ci95_s
FROM standings s
JOIN users u ON u.id = s.author_id
CROSS JOIN LATERAL (SELECT ci_low_s, unverified FROM runs WHERE id = s.run_id LIMIT 1) own
WHERE s.author_id = %(author_id)s AND s.leaderboard_id = ANY(%(board_ids)s)
ORDER BY s.achieved_at DESC, s.leaderboard_id, s.device;

-- All devices of the last submission, so that the next page can begin at the one before.
-- Along the index of the author's submissions and no further than the page: `OFFSET 0` keeps the
-- planner from looking at everybody's runs first. Mode and review are conditions of `eligible_runs`
-- too; here they keep it from being asked about each of an author's tests.
-- name: scores
SELECT e.leaderboard_id, e.device, e.submission_id, e.author_id, u.name AS author, e.score_s,
    e.achieved_at, own.unverified,
    CASE WHEN NOT u.page_is_private THEN u.id END AS page_id,
    CASE WHEN own.ci_low_s IS NOT NULL THEN ARRAY[e.ci_low_s, e.ci_high_s] END AS ci95_s
FROM submissions s
JOIN users u ON u.id = s.author_id
CROSS JOIN LATERAL (SELECT * FROM eligible_runs WHERE submission_id = s.id OFFSET 0) e
CROSS JOIN LATERAL (SELECT ci_low_s, unverified FROM runs WHERE id = e.run_id LIMIT 1) own
WHERE s.author_id = %(author_id)s AND s.leaderboard_id = ANY(%(board_ids)s)
    AND s.mode = 'leaderboard' AND s.review = 'clear'
    AND s.id < coalesce(%(before_id)s::bigint, 9223372036854775807)
ORDER BY s.id DESC FETCH FIRST (%(limit)s) ROWS WITH TIES;

-- name: days
SELECT (achieved_at AT TIME ZONE 'UTC')::date AS day, count(DISTINCT submission_id) AS submissions
FROM eligible_runs
WHERE author_id = %(author_id)s AND leaderboard_id = ANY(%(board_ids)s)
    AND achieved_at >= %(since)s
GROUP BY 1 ORDER BY 1;
