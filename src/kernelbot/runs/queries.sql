-- A duel's run is of the submission that was compared, on the board's problem as it is now; that of
-- what is known to be right is no submission's.
-- name: lock_run
SELECT r.id, r.state, r.secret, r.device, r.attempts, s.id AS submission_id, r.rejudge_id, r.duel_id,
    r.known_id, r.repeats, coalesce(s.mode, 'leaderboard') AS mode,
    coalesce(s.mode = 'test' AND NOT EXISTS (
        SELECT 1 FROM leaderboard_devices o WHERE o.leaderboard_id = b.id AND o.device = r.device
    ), false) AS is_not_offered,
    coalesce(s.file_name, k.name) AS file_name, coalesce(s.author_id, b.creator_id) AS author_id,
    b.id AS leaderboard_id,
    CASE WHEN r.duel_id IS NULL
        THEN coalesce(j.problem_version_id, s.problem_version_id, k.problem_version_id)
        ELSE b.problem_version_id END AS problem_version_id,
    c.content AS code, b.secret AS board_secret, b.fixed_seed,
    opponent.file_name AS opponent_file_name, opposed.content AS opponent_code,
    extract(epoch FROM now() - r.created_at)::float8 AS waited_s
FROM runs r
LEFT JOIN duels d ON d.id = r.duel_id
LEFT JOIN known_right k ON k.id = r.known_id
LEFT JOIN submissions s ON s.id = coalesce(r.submission_id, d.submission_id)
JOIN sources c ON c.sha256 = coalesce(s.source_sha256, k.source_sha256)
JOIN leaderboards b ON b.id = coalesce(s.leaderboard_id, k.leaderboard_id)
LEFT JOIN rejudges j ON j.id = r.rejudge_id
LEFT JOIN submissions opponent ON opponent.id = d.opponent_id
LEFT JOIN sources opposed ON opposed.sha256 = opponent.source_sha256
WHERE r.id = %(run_id)s
FOR NO KEY UPDATE OF r;

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

-- What is measured again goes before all others, and what the others are compared with.
-- name: next_run
SELECT coalesce(
    next_run_ahead(%(device)s),
    next_rejudged_run(%(device)s, %(owner)s, %(stale_s)s),
    next_run(%(device)s, %(running_limit)s::integer, %(ranked_first)s)
) AS run_id;

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

-- A heartbeat in the future is from before the clock was set back.
-- Without waiting for its lock: whoever has it, judges or deletes it.
-- name: waiting_secret_run
SELECT s.id, s.attempts FROM runs p
JOIN runs s ON s.submission_id = p.submission_id AND s.device = p.device AND s.secret
WHERE p.id = %(run_id)s AND NOT p.secret AND p.rejudge_id IS NULL
    AND s.state = 'queued' AND s.rejudge_id IS NULL
FOR NO KEY UPDATE OF s SKIP LOCKED;

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

-- The run is locked. Its judge's last progress, NULL if there is none, comes before what is told next.
-- name: close
WITH closed AS (
    UPDATE attempts
    SET state = %(state)s, ended_at = now(), result = %(result)s::jsonb, failure = %(failure)s,
        terms = NULL
    WHERE id = %(attempt_id)s AND owner = %(owner)s AND state IN ('launching', 'running')
    RETURNING run_id
)
SELECT CASE WHEN %(kinds)s::text[] IS NOT NULL THEN
    add_progress(%(followed_id)s, closed.run_id, %(kinds)s::text[], %(data)s::text[])
END AS told
FROM closed;

-- If a public run isn't accepted, its submission is never timed: the run on secret data that waits
-- for it is deleted, before anybody is told that the submission has ended.
-- Its followers are told here, so that whoever ends a run waits for them before all that may follow.
-- What is given is asked for by sub-selects where it decides what is done at all: else a plan would be
-- made for each run, which takes longer than to execute it.
-- name: finish_run
WITH untimed AS (
    DELETE FROM runs s USING runs p
    WHERE p.id = %(run_id)s AND NOT p.secret AND (SELECT %(verdict)s::run_verdict) <> 'accepted'
        AND s.submission_id = p.submission_id AND s.device = p.device AND s.secret
        AND s.rejudge_id IS NULL AND s.state = 'queued'
), between_judgings AS (
    SELECT shown.scatter, shown.pairs FROM runs r
    JOIN submissions s ON s.id = r.submission_id AND s.mode = 'leaderboard'
    CROSS JOIN LATERAL judging_scatter(s.leaderboard_id, r.device) shown
    WHERE r.id = %(run_id)s AND r.secret AND (SELECT %(score_s)s::double precision) IS NOT NULL
), finished AS (
    UPDATE runs SET state = 'finished', finished_at = now(), verdict = %(verdict)s,
        fault = %(fault)s, message = %(message)s, score_s = %(score_s)s, ci_low_s = %(ci_low_s)s,
        ci_high_s = %(ci_high_s)s, unverified = %(unverified)s,
        scatter = coalesce((SELECT scatter FROM between_judgings), 0),
        scatter_pairs = (SELECT pairs FROM between_judgings)
    WHERE id = %(run_id)s AND state IN ('dispatched', 'running')
    RETURNING id
)
SELECT CASE WHEN %(followed_id)s::bigint IS NOT NULL THEN
    add_event(%(followed_id)s, finished.id, 'finished', %(told)s::jsonb)
END AS told
FROM finished;

-- name: requeue_run
UPDATE runs SET state = 'queued', ready_at = now() + make_interval(secs => %(delay_s)s)
WHERE id = %(run_id)s AND state IN ('dispatched', 'running')
RETURNING id;

-- name: repeat_run
UPDATE runs SET state = 'queued', repeats = repeats + 1, ready_at = NULL
WHERE id = %(run_id)s AND state IN ('dispatched', 'running');

-- name: losses
SELECT count(*) AS losses FROM attempts WHERE run_id = %(run_id)s AND state = 'lost';
