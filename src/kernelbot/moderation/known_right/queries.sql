-- name: was_requested
SELECT EXISTS (
    SELECT 1 FROM known_right k
    JOIN leaderboards b ON b.id = k.leaderboard_id
    JOIN problem_versions current ON current.id = b.problem_version_id
    JOIN problem_versions v ON v.id = k.problem_version_id AND v.judging_hash = current.judging_hash
    WHERE k.leaderboard_id = %(leaderboard_id)s AND k.device = %(device)s
) AS requested;

-- name: version
SELECT problem_version_id FROM leaderboards WHERE id = %(leaderboard_id)s;

-- name: add_source
INSERT INTO sources (sha256, content) VALUES (%(source_sha256)s, %(content)s) ON CONFLICT DO NOTHING;

-- name: add
INSERT INTO known_right (leaderboard_id, device, problem_version_id, name, source_sha256)
VALUES (%(leaderboard_id)s, %(device)s, %(problem_version_id)s, %(name)s, %(source_sha256)s)
ON CONFLICT DO NOTHING;

-- name: announce
SELECT announce_turn(%(device)s);

-- In the queue it is a run of the board's creator. One at a time, so that a transaction locks one
-- author's turn.
-- name: enqueue
INSERT INTO runs (known_id, device, secret, priority, author_id)
SELECT k.id, k.device, true, 0, b.creator_id
FROM known_right k JOIN leaderboards b ON b.id = k.leaderboard_id
WHERE k.device = %(device)s AND k.ended_at IS NULL
    AND NOT EXISTS (SELECT 1 FROM runs r WHERE r.known_id = k.id)
ORDER BY k.id LIMIT 1
FOR KEY SHARE OF k SKIP LOCKED
ON CONFLICT DO NOTHING
RETURNING id;

-- name: ended
UPDATE known_right SET ended_at = now(), score_s = %(score_s)s
WHERE id = (SELECT known_id FROM runs WHERE id = %(run_id)s) AND ended_at IS NULL;

-- The first who stands with what was looked at by nobody.
-- name: unreviewed
SELECT s.submission_id, s.leaderboard_id, s.device, s.author_id, s.score_s FROM standings s
JOIN submissions sent ON sent.id = s.submission_id AND sent.reviewed_at IS NULL
WHERE s.leaderboard_id = %(leaderboard_id)s AND s.device = %(device)s
ORDER BY s.score_s LIMIT 1;

-- Also those who don't stand by it: they may once what they stand by is held.
-- name: unreviewed_below
SELECT DISTINCT e.submission_id FROM eligible_runs e
JOIN submissions sent ON sent.id = e.submission_id AND sent.reviewed_at IS NULL
WHERE e.leaderboard_id = %(leaderboard_id)s AND e.device = %(device)s AND e.score_s < %(below_s)s;
