-- The run is locked.
-- name: claimable
SELECT * FROM claimable_runs WHERE id = %(run_id)s;

-- Asked before each claim, of which most find nothing. It may be true of a run that can't be claimed
-- just now, never false of one that can.
-- name: work
SELECT EXISTS (SELECT 1 FROM runs WHERE device = %(device)s AND state = 'queued') AS queued,
    EXISTS (
        SELECT 1 FROM runs r
        JOIN attempts a ON a.run_id = r.id AND a.state IN ('launching', 'running')
            AND a.heartbeat_at NOT BETWEEN now() - make_interval(secs => %(stale_s)s)
                AND now() + make_interval(secs => %(stale_s)s)
        WHERE r.device = %(device)s AND r.state IN ('dispatched', 'running')
    ) AS abandoned,
    EXISTS (
        SELECT 1 FROM duels d
        WHERE d.device = %(device)s AND d.state = 'waiting'
            AND NOT EXISTS (SELECT 1 FROM runs r WHERE r.duel_id = d.id)
    ) AS duels,
    EXISTS (
        SELECT 1 FROM known_right k
        WHERE k.device = %(device)s AND k.ended_at IS NULL
            AND NOT EXISTS (SELECT 1 FROM runs r WHERE r.known_id = k.id)
    ) AS known_right;

-- A heartbeat in the future is from before the clock was set back.
-- name: abandoned_run
SELECT r.id FROM runs r
JOIN attempts a ON a.run_id = r.id AND a.state IN ('launching', 'running')
    AND a.heartbeat_at NOT BETWEEN now() - make_interval(secs => %(stale_s)s)
        AND now() + make_interval(secs => %(stale_s)s)
WHERE r.device = %(device)s AND r.state IN ('dispatched', 'running')
ORDER BY r.id LIMIT 1
FOR NO KEY UPDATE OF r SKIP LOCKED;

-- name: claim_next
SELECT * FROM claim_next(
    %(device)s, %(running_limit)s::integer, %(ranked_first)s, %(owner)s, %(stale_s)s
);

-- Every transaction that changes a run or its attempts takes this lock first, so that there is no
-- deadlock.
-- name: lock_run_ref
SELECT r.id, s.id AS submission_id, coalesce(s.mode, 'leaderboard') AS mode,
    coalesce(s.leaderboard_id, k.leaderboard_id) AS leaderboard_id, r.device,
    coalesce(s.author_id, r.author_id) AS author_id, r.rejudge_id, r.duel_id, r.known_id, r.repeats,
    coalesce(s.mode = 'test' AND NOT EXISTS (
        SELECT 1 FROM leaderboard_devices o WHERE o.leaderboard_id = b.id AND o.device = r.device
    ), false) AS is_not_offered
FROM runs r
LEFT JOIN duels d ON d.id = r.duel_id
LEFT JOIN known_right k ON k.id = r.known_id
LEFT JOIN submissions s ON s.id = coalesce(r.submission_id, d.submission_id)
LEFT JOIN leaderboards b ON b.id = s.leaderboard_id
WHERE r.id = %(run_id)s
FOR NO KEY UPDATE OF r;

-- Nobody follows a duel: its submissions have ended.
-- name: open
WITH begun AS (
    UPDATE runs SET state = 'dispatched', attempts = attempts + 1,
        started_at = coalesce(started_at, now()), shared_seed = shared_seed OR %(shared_seed)s
    WHERE id = %(run_id)s AND state = 'queued'
    RETURNING id, submission_id, attempts
), opened AS (
    INSERT INTO attempts (run_id, number, launcher, owner, terms)
    SELECT id, attempts, %(launcher)s, %(owner)s, %(terms)s::jsonb FROM begun
    RETURNING id
)
SELECT opened.id, CASE WHEN begun.submission_id IS NOT NULL THEN add_event(
    begun.submission_id, begun.id, 'dispatched', jsonb_build_object('attempt', begun.attempts)
) END
FROM opened, begun;

-- Without waiting for its lock: whoever has it, judges or deletes it.
-- name: waiting_secret_run
SELECT s.id, s.attempts FROM runs p
JOIN runs s ON s.submission_id = p.submission_id AND s.device = p.device AND s.secret
WHERE p.id = %(run_id)s AND NOT p.secret AND p.rejudge_id IS NULL
    AND s.state = 'queued' AND s.rejudge_id IS NULL
FOR NO KEY UPDATE OF s SKIP LOCKED;

-- A heartbeat in the future is from before the clock was set back.
-- name: take_over
UPDATE attempts SET owner = %(owner)s, heartbeat_at = now(), takeovers = takeovers + 1
WHERE run_id = %(run_id)s AND state IN ('launching', 'running')
    AND heartbeat_at NOT BETWEEN now() - make_interval(secs => %(stale_s)s)
        AND now() + make_interval(secs => %(stale_s)s)
RETURNING id, number, launcher, handle, takeovers, terms,
    greatest(extract(epoch FROM now() - created_at), 0)::float8 AS age_s;

-- name: keep_terms
UPDATE attempts SET terms = %(terms)s::jsonb
WHERE id = %(attempt_id)s AND state IN ('launching', 'running');

-- name: launched
UPDATE attempts SET state = 'running', handle = %(handle)s
WHERE id = %(attempt_id)s AND owner = %(owner)s AND state IN ('launching', 'running');

-- name: add_progress
SELECT add_progress(%(submission_id)s, %(run_id)s, %(kinds)s::text[], %(data)s::text[]);

-- name: add_own_progress
SELECT add_own_progress(
    %(submission_id)s, %(run_id)s, %(attempt_id)s, %(owner)s, %(kinds)s::text[], %(data)s::text[]
) AS mine;

-- name: lock_attempt
SELECT lock_attempt(%(run_id)s, %(attempt_id)s, %(owner)s) AS mine;

-- name: still_mine
SELECT 1 AS mine FROM attempts
WHERE id = %(attempt_id)s AND owner = %(owner)s AND state IN ('launching', 'running');

-- name: is_open
SELECT 1 AS open FROM attempts WHERE id = %(attempt_id)s AND state IN ('launching', 'running');

-- The run is locked.
-- name: close
SELECT close_attempt(
    %(attempt_id)s, %(owner)s, %(state)s, %(result)s::jsonb, %(failure)s, %(followed_id)s,
    %(kinds)s::text[], %(data)s::text[]
) AS closed;

-- name: finish_run
SELECT finish_run(
    %(run_id)s, %(verdict)s, %(fault)s, %(message)s, %(score_s)s, %(ci_low_s)s, %(ci_high_s)s,
    %(unverified)s, %(followed_id)s, %(told)s::jsonb
) AS finished;

-- name: finish_attempt
SELECT finish_attempt(
    %(run_id)s, %(attempt_id)s, %(owner)s, %(result)s::jsonb, %(followed_id)s, %(kinds)s::text[],
    %(data)s::text[], %(verdict)s, %(fault)s, %(message)s, %(score_s)s, %(ci_low_s)s,
    %(ci_high_s)s, %(unverified)s, %(told)s::jsonb
) AS finished;

-- name: requeue_run
UPDATE runs SET state = 'queued', ready_at = now() + make_interval(secs => %(delay_s)s)
WHERE id = %(run_id)s AND state IN ('dispatched', 'running')
RETURNING id;

-- name: repeat_run
UPDATE runs SET state = 'queued', repeats = repeats + 1, ready_at = NULL
WHERE id = %(run_id)s AND state IN ('dispatched', 'running');

-- name: losses
SELECT count(*) AS losses FROM attempts WHERE run_id = %(run_id)s AND state = 'lost';
