-- What somebody else is just changing is left to the next beat: this holds many attempts and none of
-- their runs, so it would wait for them in no order.
-- name: heartbeat
WITH mine AS (
    SELECT id FROM attempts
    WHERE id = ANY(%(followed)s) AND owner = %(owner)s AND state IN ('launching', 'running')
), free AS (
    SELECT id FROM attempts WHERE id IN (SELECT id FROM mine)
    FOR NO KEY UPDATE SKIP LOCKED
), beaten AS (
    UPDATE attempts SET heartbeat_at = now() WHERE id IN (SELECT id FROM free)
)
SELECT id FROM mine;

-- name: greet
INSERT INTO workers (owner, node) VALUES (%(owner)s, %(node)s)
ON CONFLICT (owner) DO UPDATE SET heartbeat_at = now();

-- name: report_device
INSERT INTO worker_devices (owner, device, available, note, launchers)
VALUES (%(owner)s, %(device)s, %(available)s, %(note)s, %(launchers)s::jsonb)
ON CONFLICT (owner, device)
DO UPDATE SET available = excluded.available, note = excluded.note,
    launchers = excluded.launchers;

-- name: report_counter
INSERT INTO worker_counters (owner, name, label, value)
VALUES (%(owner)s, %(name)s, %(label)s, %(value)s)
ON CONFLICT (owner, name, label) DO UPDATE SET value = excluded.value;

-- name: forget_workers
DELETE FROM workers
WHERE owner = ANY(%(owners)s) OR heartbeat_at < now() - interval '1 hour';

-- name: owners
SELECT owner FROM workers WHERE node = %(node)s
UNION
SELECT DISTINCT owner FROM attempts WHERE state IN ('launching', 'running');

-- name: expire
WITH free AS (
    SELECT id FROM attempts
    WHERE owner = ANY(%(owners)s) AND state IN ('launching', 'running')
    FOR NO KEY UPDATE SKIP LOCKED
), expired AS (
    UPDATE attempts SET heartbeat_at = '-infinity' WHERE id IN (SELECT id FROM free)
    RETURNING run_id
)
SELECT r.id, announce_turn(r.device) FROM runs r JOIN expired e ON e.run_id = r.id;

-- Attempts that ended lately are among the newest, which the primary key finds.
-- name: given_up
SELECT a.launcher, a.run_id, a.number, b.secret
FROM (SELECT * FROM attempts ORDER BY id DESC LIMIT 10000) a
JOIN runs r ON r.id = a.run_id
LEFT JOIN duels d ON d.id = r.duel_id
LEFT JOIN known_right k ON k.id = r.known_id
LEFT JOIN submissions s ON s.id = coalesce(r.submission_id, d.submission_id)
JOIN leaderboards b ON b.id = coalesce(s.leaderboard_id, k.leaderboard_id)
WHERE a.state IN ('lost', 'cancelled') AND a.ended_at > now() - interval '1 day'
    AND a.launcher = ANY(%(launchers)s)
ORDER BY a.id DESC LIMIT 100;
