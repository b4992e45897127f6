-- name: page
SELECT *, CASE WHEN ci_low_s IS NOT NULL THEN ARRAY[ci_low_s, ci_high_s] END AS ci95_s
FROM standings_page(
    %(leaderboard_id)s, %(device)s, %(limit)s,
    %(position)s, %(score_s)s, coalesce(%(achieved_at)s::timestamptz, '-infinity'), %(author_id)s,
    %(skip)s
);

-- Whose token it is, and in the same statement whether what was shown of a board's rankings is still true.
-- name: look
SELECT o.id AS owner_id, s.stamp FROM token_owners o
JOIN ranking_stamps s ON lower(s.name) = lower(%(board)s)
WHERE o.hash = %(hash)s AND o.kind = 'token';

-- name: stamp
SELECT stamp FROM ranking_stamps WHERE lower(name) = lower(%(board)s);

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
-- `mine`: the author's others by score, and the first that may be ranked is the one. To ask that of each
-- of thousands costs thirty times as much. Most that may not be are of earlier versions.
-- name: bests
WITH mine AS MATERIALIZED (
    SELECT r.id AS run_id, s.id AS submission_id, r.score_s
    FROM leaderboards b
    JOIN problem_versions current ON current.id = b.problem_version_id
    JOIN submissions s ON s.leaderboard_id = b.id
    JOIN runs r ON r.submission_id = s.id AND r.secret AND r.score_s IS NOT NULL
    LEFT JOIN rejudges j ON j.id = r.rejudge_id
    JOIN problem_versions measured
        ON measured.id = coalesce(j.problem_version_id, s.problem_version_id)
        AND measured.judging_hash = current.judging_hash
    WHERE b.id = %(leaderboard_id)s AND s.author_id = %(author_id)s
        AND s.id <> %(submission_id)s AND r.device = %(device)s
    ORDER BY r.score_s, s.id
)
SELECT best.submission_id, best.score_s, best.achieved_at, best.leads, u.name AS author,
    CASE WHEN NOT u.page_is_private THEN u.id END AS page_id,
    CASE WHEN own.ci_low_s IS NOT NULL THEN ARRAY[best.ci_low_s, best.ci_high_s] END AS ci95_s
FROM (
    (
        SELECT e.submission_id, e.score_s, e.ci_low_s, e.ci_high_s, e.achieved_at, e.author_id,
            e.run_id, false AS leads
        FROM mine
        CROSS JOIN LATERAL (
            SELECT * FROM eligible_runs
            WHERE run_id = mine.run_id AND submission_id = mine.submission_id
                AND device = %(device)s AND leaderboard_id = %(leaderboard_id)s
            OFFSET 0
        ) e
        ORDER BY mine.score_s, mine.submission_id LIMIT 1
    )
    UNION ALL
    (
        SELECT s.submission_id, s.score_s, s.ci_low_s, s.ci_high_s, s.achieved_at, s.author_id,
            s.run_id, true
        FROM standings s
        WHERE s.leaderboard_id = %(leaderboard_id)s AND s.device = %(device)s
        ORDER BY s.score_s, s.achieved_at, s.author_id LIMIT 1
    )
) best
CROSS JOIN LATERAL (SELECT id, name, page_is_private FROM users WHERE id = best.author_id LIMIT 1) u
CROSS JOIN LATERAL (SELECT ci_low_s FROM runs WHERE id = best.run_id LIMIT 1) own;

-- Scores that were the best of all when they were submitted, the first one first.
-- name: records
SELECT r.achieved_at, r.score_s, u.name AS author, r.submission_id,
    CASE WHEN NOT u.page_is_private THEN u.id END AS page_id,
    CASE WHEN own.ci_low_s IS NOT NULL THEN ARRAY[r.ci_low_s, r.ci_high_s] END AS ci95_s
FROM (
    SELECT achieved_at, score_s, ci_low_s, ci_high_s, author_id, submission_id, run_id, min(score_s) OVER (
        ORDER BY submission_id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ) AS before_s
    FROM eligible_runs WHERE leaderboard_id = %(leaderboard_id)s AND device = %(device)s
) r
JOIN users u ON u.id = r.author_id
JOIN runs own ON own.id = r.run_id
WHERE r.before_s IS NULL OR r.score_s < r.before_s
ORDER BY r.submission_id;

-- An author's scores that count, the latest of them, in the order of submitting.
-- name: scores
SELECT r.achieved_at, r.score_s, u.name AS author, r.submission_id,
    CASE WHEN NOT u.page_is_private THEN u.id END AS page_id,
    CASE WHEN own.ci_low_s IS NOT NULL THEN ARRAY[r.ci_low_s, r.ci_high_s] END AS ci95_s
FROM (
    SELECT achieved_at, score_s, ci_low_s, ci_high_s, author_id, submission_id, run_id
    FROM eligible_runs
    WHERE leaderboard_id = %(leaderboard_id)s AND device = %(device)s AND author_id = %(author_id)s
    ORDER BY submission_id DESC LIMIT %(limit)s
) r
JOIN users u ON u.id = r.author_id
JOIN runs own ON own.id = r.run_id
ORDER BY r.submission_id;

-- The first of each ranking of some boards, the newest ones. One look into `standings_order` for each
-- device of a board; names are looked up for those that are shown.
-- name: leaders
SELECT b.name AS board, first.device, u.name AS author, first.achieved_at, first.score_s,
    first.submission_id,
    CASE WHEN NOT u.page_is_private THEN u.id END AS page_id,
    CASE WHEN own.ci_low_s IS NOT NULL THEN ARRAY[first.ci_low_s, first.ci_high_s] END AS ci95_s
FROM (
    SELECT s.* FROM leaderboard_devices d
    CROSS JOIN LATERAL (
        SELECT * FROM standings
        WHERE leaderboard_id = d.leaderboard_id AND device = d.device
        ORDER BY score_s, achieved_at, author_id LIMIT 1
    ) s
    WHERE d.leaderboard_id = ANY(%(leaderboard_ids)s) AND d.authors > 0
    ORDER BY s.achieved_at DESC LIMIT %(limit)s
) first
CROSS JOIN LATERAL (SELECT name FROM leaderboards WHERE id = first.leaderboard_id LIMIT 1) b
CROSS JOIN LATERAL (SELECT id, name, page_is_private FROM users WHERE id = first.author_id LIMIT 1) u
CROSS JOIN LATERAL (SELECT ci_low_s FROM runs WHERE id = first.run_id LIMIT 1) own
ORDER BY first.achieved_at DESC;

-- Of the latest submissions those of the last 24 hours, by board. Their numbers grow with their times,
-- so it reads the end of the primary key's index, and never more than that many rows.
-- name: submitted_lately
SELECT leaderboard_id, count(*) AS submissions FROM (
    SELECT leaderboard_id, created_at FROM submissions ORDER BY id DESC LIMIT %(most)s
) latest
WHERE created_at > now() - interval '1 day'
GROUP BY leaderboard_id;

-- Authors among the best who are ranked there whose names begin so, the best first. It is asked at
-- each letter that somebody types: of a name that nobody has, all who are looked at would be all.
-- name: names_beginning
SELECT u.name FROM (
    SELECT author_id, score_s, achieved_at FROM standings
    WHERE leaderboard_id = %(leaderboard_id)s AND device = %(device)s
    ORDER BY score_s, achieved_at, author_id LIMIT %(among)s
) s
CROSS JOIN LATERAL (SELECT name FROM users WHERE id = s.author_id LIMIT 1) u
WHERE starts_with(lower(u.name), %(beginning)s)
ORDER BY s.score_s, s.achieved_at, s.author_id LIMIT %(limit)s;

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

-- name: ranks
SELECT leaderboard_id, device, author_id,
    standing_rank(leaderboard_id, device, author_id) AS rank,
    standing_is_shared(leaderboard_id, device, author_id) AS shared
FROM unnest(%(leaderboard_ids)s::bigint[], %(devices)s::text[], %(author_ids)s::bigint[])
    AS asked (leaderboard_id, device, author_id);
