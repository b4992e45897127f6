-- name: page
SELECT * FROM standings_page(
    %(leaderboard_id)s, %(device)s, %(limit)s,
    %(position)s, %(score_s)s, coalesce(%(achieved_at)s::timestamptz, '-infinity'), %(author_id)s,
    %(skip)s
);

-- name: submissions_of
SELECT count(*) AS submissions FROM eligible_runs
WHERE leaderboard_id = %(leaderboard_id)s AND device = %(device)s AND author_id = %(author_id)s;

-- The author's best before this submission, and the best of all.
-- name: compared
SELECT
    (
        SELECT min(e.score_s) FROM eligible_runs e
        WHERE e.leaderboard_id = d.leaderboard_id AND e.device = d.device
            AND e.author_id = %(author_id)s AND e.submission_id < %(submission_id)s
    ) AS previous_s,
    (
        SELECT s.score_s FROM standings s
        WHERE s.leaderboard_id = d.leaderboard_id AND s.device = d.device
        ORDER BY s.score_s LIMIT 1
    ) AS leader_s,
    d.authors
FROM leaderboard_devices d
WHERE d.leaderboard_id = %(leaderboard_id)s AND d.device = %(device)s;

-- What to compare a submission with: the author's best of their others, and the first of the ranking.
-- name: bests
(
    SELECT e.submission_id, e.score_s, false AS leads FROM eligible_runs e
    WHERE e.leaderboard_id = %(leaderboard_id)s AND e.device = %(device)s
        AND e.author_id = %(author_id)s AND e.submission_id <> %(submission_id)s
    ORDER BY e.score_s, e.submission_id LIMIT 1
)
UNION ALL
(
    SELECT s.submission_id, s.score_s, true FROM standings s
    WHERE s.leaderboard_id = %(leaderboard_id)s AND s.device = %(device)s
    ORDER BY s.score_s, s.achieved_at, s.author_id LIMIT 1
);

-- An author's scores that count, the latest of them, in the order of submitting.
-- name: achieved
SELECT achieved_at, score_s FROM (
    SELECT achieved_at, score_s, submission_id FROM eligible_runs
    WHERE leaderboard_id = %(leaderboard_id)s AND device = %(device)s AND author_id = %(author_id)s
    ORDER BY submission_id DESC LIMIT %(limit)s
) latest ORDER BY submission_id;

-- Scores that were the best of all when they were submitted, the first one first.
-- name: records
SELECT r.achieved_at, r.score_s, u.name AS author FROM (
    SELECT achieved_at, score_s, author_id, submission_id, min(score_s) OVER (
        ORDER BY submission_id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ) AS before_s
    FROM eligible_runs WHERE leaderboard_id = %(leaderboard_id)s AND device = %(device)s
) r
JOIN users u ON u.id = r.author_id
WHERE r.before_s IS NULL OR r.score_s < r.before_s
ORDER BY r.submission_id;

-- Authors who are ranked there, by their names in upper or lower case.
-- name: ranked_authors
SELECT u.id, u.name FROM users u
WHERE lower(u.name) = ANY(%(names)s) AND EXISTS (
    SELECT 1 FROM standings s
    WHERE s.leaderboard_id = %(leaderboard_id)s AND s.device = %(device)s AND s.author_id = u.id
)
ORDER BY u.id;

-- name: refresh
SELECT refresh_standing(%(leaderboard_id)s, %(device)s, %(author_id)s);

-- name: rebuild
SELECT rebuild_standings();
