-- name: page
WITH page AS (
    SELECT author_id, run_id, submission_id, score_s, achieved_at, leads,
        %(offset)s + row_number() OVER (ORDER BY score_s, achieved_at, author_id) AS position
    FROM (
        SELECT * FROM standings
        WHERE leaderboard_id = %(leaderboard_id)s AND device = %(device)s
        ORDER BY score_s, achieved_at, author_id
        LIMIT %(limit)s OFFSET %(offset)s
    ) rows
), head AS (
    -- Whoever leads the first row stands before it by as many as lie between them.
    SELECT first.position - (
        SELECT count(*) FROM standings between_them
        WHERE between_them.leaderboard_id = %(leaderboard_id)s AND between_them.device = %(device)s
            AND (between_them.score_s, between_them.achieved_at, between_them.author_id)
                >= (leader.score_s, leader.achieved_at, leader.author_id)
            AND (between_them.score_s, between_them.achieved_at, between_them.author_id)
                < (first.score_s, first.achieved_at, first.author_id)
    ) AS rank
    FROM (SELECT * FROM page ORDER BY position LIMIT 1) first
    CROSS JOIN LATERAL (
        SELECT score_s, achieved_at, author_id FROM standings
        WHERE leaderboard_id = %(leaderboard_id)s AND device = %(device)s AND leads
            AND (score_s, achieved_at, author_id)
                <= (first.score_s, first.achieved_at, first.author_id)
        ORDER BY score_s DESC, achieved_at DESC, author_id DESC LIMIT 1
    ) leader
)
SELECT
    coalesce(
        max(CASE WHEN page.leads THEN page.position END) OVER (ORDER BY page.position), head.rank
    ) AS rank,
    page.author_id, u.name AS author, page.score_s, r.ci_low_s, r.ci_high_s, page.submission_id, s.file_name,
    page.achieved_at, r.unverified
FROM page CROSS JOIN head
JOIN users u ON u.id = page.author_id
JOIN submissions s ON s.id = page.submission_id
JOIN runs r ON r.id = page.run_id
ORDER BY page.position;

-- name: size
SELECT authors, version FROM leaderboard_devices
WHERE leaderboard_id = %(leaderboard_id)s AND device = %(device)s;

-- name: submissions_of
SELECT count(*) AS submissions FROM eligible_runs
WHERE leaderboard_id = %(leaderboard_id)s AND device = %(device)s AND author_id = %(author_id)s;

-- name: refresh
SELECT refresh_standing(%(leaderboard_id)s, %(device)s, %(author_id)s);

-- name: rebuild
SELECT rebuild_standings();
