-- Each author's standing, or else their fastest of another version of the problem. Of code that they
-- have withdrawn on this version none: it isn't ranked again, by a rejudge no more than by submitting it.
-- Nor of code that is held or refused.
-- name: candidates
SELECT submission_id FROM (
    SELECT DISTINCT ON (r.author_id) r.submission_id, r.score_s
    FROM rankable_runs r
    JOIN leaderboards b ON b.id = r.leaderboard_id
    JOIN problem_versions current ON current.id = b.problem_version_id
    LEFT JOIN standings st ON st.leaderboard_id = r.leaderboard_id AND st.device = r.device
        AND st.author_id = r.author_id
    WHERE r.leaderboard_id = %(leaderboard_id)s AND r.device = %(device)s
        AND (st.run_id = r.run_id OR (st.run_id IS NULL AND NOT EXISTS (
            SELECT 1 FROM withdrawn_sources w
            WHERE w.leaderboard_id = r.leaderboard_id AND w.author_id = r.author_id
                AND w.source_sha256 = r.source_sha256 AND w.judging_hash = current.judging_hash
                AND w.device = r.device AND w.submission_id < r.submission_id
        ) AND NOT EXISTS (
            SELECT 1 FROM withdrawn_sources w
            WHERE w.leaderboard_id = r.leaderboard_id AND w.author_id = r.author_id
                AND w.code_sha256 = r.code_sha256 AND w.judging_hash = current.judging_hash
                AND w.device = r.device AND w.submission_id < r.submission_id
        ) AND NOT EXISTS (
            SELECT 1 FROM submissions t
            WHERE t.leaderboard_id = r.leaderboard_id AND t.author_id = r.author_id
                AND (t.source_sha256 = r.source_sha256 OR t.code_sha256 = r.code_sha256)
                AND t.review <> 'clear' AND t.mode = 'leaderboard' AND t.id < r.submission_id
        )))
    ORDER BY r.author_id, r.score_s, r.run_id
) best
ORDER BY score_s, submission_id LIMIT %(top)s;

-- name: was_lately
SELECT EXISTS (
    SELECT 1 FROM rejudges WHERE leaderboard_id = %(leaderboard_id)s AND device = %(device)s
        AND created_at > now() - interval '1 hour'
) AS found;

-- Locks are taken in the same order as when a run ends: runs, then their rejudge.
-- name: lock_runs
SELECT id FROM runs WHERE rejudge_id = %(rejudge_id)s ORDER BY id FOR NO KEY UPDATE;

-- name: is_at_work
SELECT EXISTS (SELECT 1 FROM rejudges WHERE id = %(rejudge_id)s AND finished_at IS NULL) AS found;

-- name: stop
SELECT pg_notify('kernelbot_cancelled', a.run_id::text) FROM attempts a
JOIN runs r ON r.id = a.run_id
WHERE r.rejudge_id = %(rejudge_id)s AND a.state IN ('launching', 'running');

-- What was measured goes as well: the others of the ranking weren't measured under the same conditions.
-- name: drop_runs
DELETE FROM runs WHERE rejudge_id = %(rejudge_id)s;

-- name: add
INSERT INTO rejudges (leaderboard_id, device, problem_version_id)
SELECT id, %(device)s, problem_version_id FROM leaderboards WHERE id = %(leaderboard_id)s
ON CONFLICT DO NOTHING
RETURNING id;

-- name: add_run
INSERT INTO runs (submission_id, device, secret, priority, rejudge_id)
VALUES (%(submission_id)s, %(device)s, true, %(priority)s, %(rejudge_id)s)
RETURNING id;

-- Runs that end at the same time wait for each other here, so that the last one sees the others.
-- name: lock
SELECT leaderboard_id, device FROM rejudges WHERE id = %(rejudge_id)s FOR UPDATE;

-- name: finish
UPDATE rejudges SET finished_at = now()
WHERE id = %(rejudge_id)s AND finished_at IS NULL AND NOT EXISTS (
    SELECT 1 FROM runs
    WHERE rejudge_id = %(rejudge_id)s AND state NOT IN ('finished', 'cancelled')
)
RETURNING id;

-- What was wrong when it was measured again is known to be: the same code that its author has sent
-- beside it, or sends later, isn't ranked.
-- name: withdraw_refuted
INSERT INTO withdrawn_sources AS known (
    leaderboard_id, author_id, source_sha256, judging_hash, device, submission_id, code_sha256
)
SELECT DISTINCT ON (s.author_id, s.source_sha256)
    s.leaderboard_id, s.author_id, s.source_sha256, v.judging_hash, r.device, s.id, s.code_sha256
FROM rejudges j
JOIN problem_versions v ON v.id = j.problem_version_id
JOIN runs r ON r.rejudge_id = j.id AND r.fault = 'author'
JOIN submissions s ON s.id = r.submission_id
WHERE j.id = %(rejudge_id)s
ORDER BY s.author_id, s.source_sha256, s.id
ON CONFLICT (leaderboard_id, author_id, source_sha256, judging_hash, device)
DO UPDATE SET submission_id = least(known.submission_id, excluded.submission_id);

-- One author after another, beside the others' scores of before: so none of it is told.
-- name: rank
SELECT refresh_standing(j.leaderboard_id, j.device, own.author_id, false)
FROM rejudges j
CROSS JOIN LATERAL (
    SELECT DISTINCT s.author_id FROM runs r JOIN submissions s ON s.id = r.submission_id
    WHERE r.rejudge_id = j.id ORDER BY s.author_id
) own
WHERE j.id = %(rejudge_id)s;

-- name: request_duels
SELECT request_rejudged_duels(%(rejudge_id)s);

-- What was measured again is no longer outdated.
-- name: recount
SELECT recount_authors(leaderboard_id, device) FROM rejudges WHERE id = %(rejudge_id)s;

-- name: one
SELECT j.id, b.name AS board, j.device, j.created_at, j.finished_at
FROM rejudges j JOIN leaderboards b ON b.id = j.leaderboard_id
WHERE j.id = %(rejudge_id)s AND j.leaderboard_id = %(leaderboard_id)s;

-- name: of_board
SELECT id FROM rejudges WHERE leaderboard_id = %(leaderboard_id)s ORDER BY id DESC LIMIT %(limit)s;

-- name: runs
SELECT r.submission_id, u.name AS author, r.score_s AS after_s,
    shown_verdict(r.secret, r.fault, r.verdict) AS verdict, (
    SELECT before.score_s FROM runs before
    WHERE before.submission_id = r.submission_id AND before.device = r.device AND before.secret
        AND before.score_s IS NOT NULL AND before.id < r.id
    ORDER BY before.id DESC LIMIT 1
) AS before_s
FROM runs r
JOIN submissions s ON s.id = r.submission_id
JOIN users u ON u.id = s.author_id
WHERE r.rejudge_id = %(rejudge_id)s
ORDER BY r.id;
