-- The turns contain the number of waiting runs: reading 20,000 waiting runs took 7 ms.
-- name: lengths
SELECT device, sum(queued)::bigint AS queued, sum(running)::bigint AS running
FROM (
    SELECT device, sum(waiting) AS queued, 0 AS running FROM queue_turns WHERE waits GROUP BY device
    UNION ALL
    SELECT device, 0 AS queued, count(*) AS running FROM runs
    WHERE state IN ('dispatched', 'running') GROUP BY device
) AS unfinished
GROUP BY device;

-- name: load
SELECT device,
    count(*) FILTER (WHERE state = 'queued') AS queued,
    count(*) FILTER (WHERE state IN ('dispatched', 'running')) AS running,
    coalesce(
        extract(epoch FROM now() - min(created_at) FILTER (WHERE state = 'queued')), 0
    )::float8 AS longest_wait_s
FROM (
    -- Each half uses an index of its own: together the query would scan all runs.
    SELECT device, state, created_at FROM runs WHERE state = 'queued'
    UNION ALL
    SELECT device, state, created_at FROM runs WHERE state IN ('dispatched', 'running')
) AS unfinished
GROUP BY device;

-- name: reports
SELECT d.device, d.available, d.note, d.launchers
FROM worker_devices d JOIN workers w ON w.owner = d.owner
WHERE w.heartbeat_at BETWEEN now() - make_interval(secs => %(fresh_s)s)
    AND now() + make_interval(secs => %(fresh_s)s)
ORDER BY d.device, d.available DESC;

-- name: workers
SELECT count(*) AS workers FROM workers
WHERE heartbeat_at BETWEEN now() - make_interval(secs => %(fresh_s)s)
    AND now() + make_interval(secs => %(fresh_s)s);

-- name: owners
SELECT owner FROM workers
WHERE heartbeat_at BETWEEN now() - make_interval(secs => %(fresh_s)s)
    AND now() + make_interval(secs => %(fresh_s)s)
ORDER BY owner;

-- name: counts
SELECT owner, name, label, value FROM worker_counters ORDER BY owner, name, label;

-- Of each device the run that ended last; the index of those that ended finds it.
-- name: systems
SELECT d.device, a.result -> 'system' AS system
FROM unnest(%(devices)s::text[]) AS d (device)
CROSS JOIN LATERAL (
    SELECT r.id FROM runs r
    WHERE r.device = d.device AND r.state = 'finished'
    ORDER BY r.finished_at DESC LIMIT 1
) AS latest
JOIN attempts a ON a.run_id = latest.id AND a.state = 'finished';
