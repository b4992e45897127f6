-- Authors are grouped and not counted with DISTINCT, which would sort them.
-- name: submissions
SELECT coalesce(sum(by_author.submissions), 0)::bigint AS submissions, count(*) AS authors
FROM (
    SELECT author_id, count(*) AS submissions FROM submissions
    WHERE (%(leaderboard_id)s::bigint IS NULL OR leaderboard_id = %(leaderboard_id)s::bigint)
        AND (NOT %(last_day)s OR created_at > now() - interval '1 day')
    GROUP BY author_id
) by_author;

-- Boards with submissions: one look into an index for each.
-- name: boards
SELECT count(*) AS boards FROM leaderboards b
WHERE (%(leaderboard_id)s::bigint IS NULL OR b.id = %(leaderboard_id)s::bigint)
    AND EXISTS (
        SELECT 1 FROM submissions s
        WHERE s.leaderboard_id = b.id
            AND (NOT %(last_day)s OR s.created_at > now() - interval '1 day')
    );

-- name: runs
SELECT r.device, r.state, r.fault, count(*) AS runs,
    extract(epoch FROM max(r.started_at - r.created_at))::float8 AS wait_longest_s,
    extract(epoch FROM sum(r.finished_at - r.started_at))::float8 AS run_total_s
FROM submissions s JOIN runs r ON r.submission_id = s.id
WHERE (%(leaderboard_id)s::bigint IS NULL OR s.leaderboard_id = %(leaderboard_id)s::bigint)
    AND (NOT %(last_day)s OR s.created_at > now() - interval '1 day')
GROUP BY r.device, r.state, r.fault;

-- The same of everything, in one scan of the table. A duel's run is of no one submission.
-- name: all_runs
SELECT r.device, r.state, r.fault, count(*) AS runs,
    extract(epoch FROM max(r.started_at - r.created_at))::float8 AS wait_longest_s,
    extract(epoch FROM sum(r.finished_at - r.started_at))::float8 AS run_total_s
FROM runs r
WHERE r.duel_id IS NULL
GROUP BY r.device, r.state, r.fault;

-- Medians are those of the latest submissions: sorting the times of millions of runs takes seconds. With
-- OFFSET 0, their runs are found one by one, and not by reading all runs.
-- name: medians
WITH latest AS MATERIALIZED (
    SELECT id FROM submissions
    WHERE (%(leaderboard_id)s::bigint IS NULL OR leaderboard_id = %(leaderboard_id)s::bigint)
        AND (NOT %(last_day)s OR created_at > now() - interval '1 day')
    ORDER BY id DESC LIMIT %(typical)s
)
SELECT r.device,
    extract(epoch FROM percentile_cont(0.5) WITHIN GROUP (
        ORDER BY r.started_at - r.created_at
    ))::float8 AS wait_s,
    extract(epoch FROM percentile_cont(0.5) WITHIN GROUP (
        ORDER BY r.finished_at - r.started_at
    ) FILTER (WHERE r.state = 'finished'))::float8 AS run_s
FROM latest CROSS JOIN LATERAL (
    SELECT * FROM runs WHERE submission_id = latest.id OFFSET 0
) r
GROUP BY r.device;
