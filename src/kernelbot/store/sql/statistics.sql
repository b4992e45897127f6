-- Grouped and not `count(DISTINCT ...)`, which would sort all of them.
-- name: submissions
WITH counted AS (
    SELECT author_id, leaderboard_id FROM submissions
    WHERE (%(leaderboard_id)s::bigint IS NULL OR leaderboard_id = %(leaderboard_id)s::bigint)
        AND (NOT %(last_day)s OR created_at > now() - interval '1 day')
)
SELECT (SELECT count(*) FROM counted) AS submissions,
    (SELECT count(*) FROM (SELECT author_id FROM counted GROUP BY 1) a) AS authors,
    (SELECT count(*) FROM (SELECT leaderboard_id FROM counted GROUP BY 1) b) AS boards;

-- All runs of submissions are counted in one scan of their table. Medians are those of the latest submissions:
-- sorting the times of millions of runs takes ten times as long.
-- name: devices
WITH latest AS MATERIALIZED (
    SELECT id FROM submissions
    WHERE (%(leaderboard_id)s::bigint IS NULL OR leaderboard_id = %(leaderboard_id)s::bigint)
        AND (NOT %(last_day)s OR created_at > now() - interval '1 day')
    ORDER BY id DESC LIMIT %(typical)s
), typical AS (
    SELECT r.device,
        percentile_cont(0.5) WITHIN GROUP (
            ORDER BY extract(epoch FROM r.started_at - r.created_at)::float8
        ) AS wait_median_s,
        percentile_cont(0.5) WITHIN GROUP (
            ORDER BY extract(epoch FROM r.finished_at - r.started_at)::float8
        ) FILTER (WHERE r.state = 'finished') AS run_median_s
    FROM latest JOIN runs r ON r.submission_id = latest.id
    GROUP BY r.device
), counted AS (
    SELECT r.device,
        count(*) AS runs,
        count(*) FILTER (WHERE r.verdict = 'accepted') AS passes,
        count(*) FILTER (WHERE r.fault = 'author') AS failures,
        count(*) FILTER (
            WHERE r.state = 'lost' OR (r.fault IS NOT NULL AND r.fault <> 'author')
        ) AS errors,
        count(*) FILTER (WHERE r.state = 'queued') AS waiting,
        count(*) FILTER (WHERE r.state IN ('dispatched', 'running')) AS running,
        extract(epoch FROM max(r.started_at - r.created_at))::float8 AS wait_longest_s,
        coalesce(
            extract(epoch FROM sum(r.finished_at - r.started_at) FILTER (WHERE r.state = 'finished')),
            0
        )::float8 AS run_total_s
    FROM runs r
    WHERE (r.duel_id IS NULL AND %(leaderboard_id)s::bigint IS NULL AND NOT %(last_day)s)
        OR r.submission_id IN (
            SELECT id FROM submissions
            WHERE (%(leaderboard_id)s::bigint IS NULL OR leaderboard_id = %(leaderboard_id)s::bigint)
                AND (NOT %(last_day)s OR created_at > now() - interval '1 day')
        )
    GROUP BY r.device
)
SELECT * FROM counted LEFT JOIN typical USING (device) ORDER BY device;
