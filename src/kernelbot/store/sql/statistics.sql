-- name: submissions
SELECT count(*) AS submissions, count(DISTINCT author_id) AS authors,
    count(DISTINCT leaderboard_id) AS boards
FROM submissions
WHERE (%(leaderboard_id)s::bigint IS NULL OR leaderboard_id = %(leaderboard_id)s::bigint)
    AND (NOT %(last_day)s OR created_at > now() - interval '1 day');

-- name: devices
SELECT r.device,
    count(*) AS runs,
    count(*) FILTER (WHERE r.verdict = 'accepted') AS passes,
    count(*) FILTER (WHERE r.fault = 'author') AS failures,
    count(*) FILTER (
        WHERE r.state = 'lost' OR (r.fault IS NOT NULL AND r.fault <> 'author')
    ) AS errors,
    count(*) FILTER (WHERE r.state = 'queued') AS waiting,
    count(*) FILTER (WHERE r.state IN ('dispatched', 'running')) AS running,
    percentile_cont(0.5) WITHIN GROUP (
        ORDER BY extract(epoch FROM r.started_at - r.created_at)::float8
    ) AS wait_median_s,
    max(extract(epoch FROM r.started_at - r.created_at))::float8 AS wait_longest_s,
    percentile_cont(0.5) WITHIN GROUP (
        ORDER BY extract(epoch FROM r.finished_at - r.started_at)::float8
    ) FILTER (WHERE r.state = 'finished') AS run_median_s,
    coalesce(
        sum(extract(epoch FROM r.finished_at - r.started_at)) FILTER (WHERE r.state = 'finished'),
        0
    )::float8 AS run_total_s
FROM runs r
JOIN submissions s ON s.id = r.submission_id
WHERE (%(leaderboard_id)s::bigint IS NULL OR s.leaderboard_id = %(leaderboard_id)s::bigint)
    AND (NOT %(last_day)s OR s.created_at > now() - interval '1 day')
GROUP BY r.device ORDER BY r.device;
