-- Locks are taken in the same order as when a verdict is written: runs, duels, turns, rejudges,
-- rankings. The runs of their duels are deleted with them.
-- None is stronger than necessary: a ranking that is being written may refer to a run or a
-- submission that is about to be deleted, and must be able to finish first.
-- name: lock_runs
SELECT id FROM runs WHERE id IN (SELECT runs_about(%(submission_ids)s))
ORDER BY id FOR NO KEY UPDATE;

-- name: lock_duels
SELECT id FROM duels
WHERE submission_id = ANY(%(submission_ids)s) OR opponent_id = ANY(%(submission_ids)s)
ORDER BY id FOR UPDATE;

-- Once the author has seen a score, the same code isn't ranked again, also if the rest was never
-- measured, unless that was our fault.
-- name: withdraw
INSERT INTO withdrawn_sources AS known (
    leaderboard_id, author_id, source_sha256, judging_hash, device, submission_id, code_sha256,
    score_s
)
SELECT DISTINCT ON (s.leaderboard_id, s.author_id, s.source_sha256, v.judging_hash, r.device)
    s.leaderboard_id, s.author_id, s.source_sha256, v.judging_hash, r.device, s.id, s.code_sha256,
    r.score_s
FROM submissions s
JOIN runs r ON r.submission_id = s.id AND r.secret AND r.score_s IS NOT NULL
LEFT JOIN rejudges j ON j.id = r.rejudge_id
JOIN problem_versions v ON v.id = coalesce(j.problem_version_id, s.problem_version_id)
WHERE s.id = ANY(%(submission_ids)s) AND s.mode = 'leaderboard' AND NOT EXISTS (
    SELECT 1 FROM runs p
    WHERE p.submission_id = s.id AND p.device = r.device AND NOT p.secret
        AND p.fault IN ('platform', 'scheduler')
)
ORDER BY s.leaderboard_id, s.author_id, s.source_sha256, v.judging_hash, r.device, s.id
ON CONFLICT (leaderboard_id, author_id, source_sha256, judging_hash, device)
DO UPDATE SET submission_id = least(known.submission_id, excluded.submission_id),
    code_sha256 = coalesce(excluded.code_sha256, known.code_sha256),
    score_s = CASE WHEN known.submission_id <= excluded.submission_id THEN known.score_s
        ELSE excluded.score_s END;

-- What is held or refused stays so for the same code, on every device, whoever deletes it.
-- name: withdraw_refused
INSERT INTO withdrawn_sources AS known (
    leaderboard_id, author_id, source_sha256, judging_hash, device, submission_id, code_sha256
)
SELECT DISTINCT ON (s.leaderboard_id, s.author_id, s.source_sha256, v.judging_hash, d.device)
    s.leaderboard_id, s.author_id, s.source_sha256, v.judging_hash, d.device, s.id, s.code_sha256
FROM submissions s
JOIN leaderboards b ON b.id = s.leaderboard_id
JOIN problem_versions v ON v.id = b.problem_version_id
JOIN leaderboard_devices d ON d.leaderboard_id = s.leaderboard_id
WHERE s.id = ANY(%(submission_ids)s) AND s.mode = 'leaderboard' AND s.review <> 'clear'
ORDER BY s.leaderboard_id, s.author_id, s.source_sha256, v.judging_hash, d.device, s.id
ON CONFLICT DO NOTHING;

-- What an organiser deletes may be submitted again, also if it was wrong when it was measured again.
-- name: forget_withdrawn
DELETE FROM withdrawn_sources WHERE (leaderboard_id, author_id, submission_id) IN (
    SELECT leaderboard_id, author_id, id FROM submissions WHERE id = ANY(%(submission_ids)s)
);

-- So waiting and running runs leave the turns before the rankings are locked. Of those alone that were
-- locked: a duel's that came meanwhile is somebody's who may wait for what we have.
-- name: drop_runs
UPDATE runs SET state = 'cancelled', finished_at = now()
WHERE id = ANY(%(run_ids)s) AND state IN ('queued', 'dispatched', 'running');

-- name: drop_attempts
UPDATE attempts SET state = 'cancelled', ended_at = now()
WHERE state IN ('launching', 'running') AND run_id = ANY(%(run_ids)s)
RETURNING pg_notify('kernelbot_cancelled', run_id::text);

-- A rejudge would wait for ever for runs that are deleted.
-- name: lock_rejudges
SELECT id FROM rejudges
WHERE finished_at IS NULL
    AND id IN (SELECT rejudge_id FROM runs WHERE submission_id = ANY(%(submission_ids)s))
ORDER BY id FOR UPDATE;

-- Nobody can review them meanwhile: a decision locks the submission before the ranking.
-- name: lock_submissions
SELECT id FROM submissions WHERE id = ANY(%(submission_ids)s) ORDER BY id FOR NO KEY UPDATE;

-- Every ranking that they are in, or may enter by a transaction that is still running.
-- name: lock_rankings
SELECT 1 AS locked FROM leaderboard_devices
WHERE (leaderboard_id, device) IN (
    SELECT s.leaderboard_id, r.device FROM submissions s JOIN runs r ON r.submission_id = s.id
    WHERE s.id = ANY(%(submission_ids)s)
)
ORDER BY leaderboard_id, device FOR NO KEY UPDATE;

-- What came after the others were locked, by a ranking that was written or a turn in the queue. From
-- here on nothing can come any more.
-- name: came_meanwhile
SELECT EXISTS (
    SELECT 1 FROM runs_about(%(submission_ids)s) about WHERE about <> ALL(%(run_ids)s)
) OR EXISTS (
    SELECT 1 FROM duels
    WHERE (submission_id = ANY(%(submission_ids)s) OR opponent_id = ANY(%(submission_ids)s))
        AND id <> ALL(%(duel_ids)s)
) AS found;

-- A run without a score doesn't count: so the ranking moves up before the rows are deleted.
-- name: drop_scores
UPDATE runs SET score_s = NULL, ci_low_s = NULL, ci_high_s = NULL
WHERE submission_id = ANY(%(submission_ids)s) AND score_s IS NOT NULL;

-- Also of those who stand by another submission, which may have been the same code.
-- name: refresh_standings
SELECT refresh_standing(place.leaderboard_id, place.device, place.author_id)
FROM (
    SELECT DISTINCT s.leaderboard_id, r.device, s.author_id
    FROM submissions s JOIN runs r ON r.submission_id = s.id
    WHERE s.id = ANY(%(submission_ids)s) AND s.mode = 'leaderboard'
    ORDER BY s.leaderboard_id, r.device, s.author_id
) place;

-- name: delete_submissions
DELETE FROM submissions WHERE id = ANY(%(submission_ids)s)
RETURNING id, source_sha256, pg_notify('kernelbot_events', id::text);

-- name: lock_sources
SELECT sha256 FROM sources WHERE sha256 = ANY(%(sha256s)s) ORDER BY sha256 FOR UPDATE;

-- name: delete_sources
DELETE FROM sources c WHERE sha256 = ANY(%(sha256s)s)
    AND NOT EXISTS (SELECT 1 FROM submissions s WHERE s.source_sha256 = c.sha256)
    AND NOT EXISTS (SELECT 1 FROM known_right k WHERE k.source_sha256 = c.sha256);

-- name: of_user
SELECT s.id FROM submissions s JOIN users u ON u.id = s.author_id
WHERE s.leaderboard_id = %(leaderboard_id)s AND lower(u.name) = lower(%(user_name)s)
ORDER BY s.id;

-- name: of_author
SELECT id FROM submissions WHERE author_id = %(user_id)s ORDER BY id;

-- Before the account itself: writing a verdict locks in this order.
-- name: lock_runs_of
SELECT id FROM runs
WHERE id IN (SELECT runs_about(ARRAY(SELECT id FROM submissions WHERE author_id = %(user_id)s)))
ORDER BY id FOR NO KEY UPDATE;

-- From here on nobody can submit as this account: a submission would lock the row too.
-- name: lock_user
SELECT name, role FROM users WHERE id = %(user_id)s FOR UPDATE;

-- name: boards_of
SELECT name FROM leaderboards WHERE creator_id = %(user_id)s ORDER BY name;

-- name: hand_over_boards
UPDATE leaderboards SET creator_id = %(heir_id)s WHERE creator_id = %(user_id)s;

-- name: delete_user
DELETE FROM users WHERE id = %(user_id)s;

-- name: of_board
SELECT id FROM submissions WHERE leaderboard_id = %(leaderboard_id)s ORDER BY id;

-- name: lock_board
SELECT 1 FROM leaderboards WHERE id = %(leaderboard_id)s FOR UPDATE;

-- name: has_submissions
SELECT EXISTS (SELECT 1 FROM submissions WHERE leaderboard_id = %(leaderboard_id)s) AS found;

-- name: clear_standings
DELETE FROM standings WHERE leaderboard_id = %(leaderboard_id)s;

-- name: delete_board
DELETE FROM leaderboards WHERE id = %(leaderboard_id)s;

-- name: forget_logins
DELETE FROM login_attempts WHERE expires_at < now();

-- name: forget_device_logins
DELETE FROM device_logins WHERE expires_at < now();

-- name: forget_chat
DELETE FROM chat_answers WHERE created_at < now() - interval '7 days';

-- name: forget_uses
DELETE FROM rate_uses WHERE used_at < now() - interval '1 hour';

-- name: forget_tokens
DELETE FROM tokens WHERE expires_at < now() - interval '30 days';

-- What was told of a board stays, as it says which thread is the board's.
-- name: forget_news
DELETE FROM announcements WHERE kind <> 'board' AND created_at < now() - interval '30 days';
