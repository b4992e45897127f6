-- Only one sync runs at a time.
-- name: lock
SELECT pg_try_advisory_xact_lock(%(lock)s) AS locked;

-- name: competition
INSERT INTO competitions (name, description, deadline)
VALUES (%(name)s, %(description)s, %(deadline)s)
ON CONFLICT (name) DO UPDATE
    SET description = excluded.description, deadline = excluded.deadline
RETURNING id;

-- name: board
SELECT c.name AS competition, v.content_hash, v.judging_hash, v.definition -> 'devices' AS named,
    (SELECT count(*) FROM standings st WHERE st.leaderboard_id = b.id) AS scores
FROM leaderboards b
JOIN problem_versions v ON v.id = b.problem_version_id
LEFT JOIN competitions c ON c.id = b.competition_id
WHERE b.id = %(id)s;

-- name: boards_of
SELECT b.name FROM leaderboards b JOIN competitions c ON c.id = b.competition_id
WHERE c.name = %(competition)s ORDER BY b.name;

-- name: lock_boards
SELECT id FROM leaderboards WHERE lower(name) = ANY(%(names)s) ORDER BY id FOR NO KEY UPDATE;

-- name: assign
UPDATE leaderboards SET competition_id = %(competition_id)s, reveal_code = %(reveal_code)s,
    fixed_seed = %(fixed_seed)s
WHERE id = %(leaderboard_id)s;

-- name: update
UPDATE leaderboards SET problem_version_id = %(problem_version_id)s,
    description = %(description)s, deadline = %(deadline)s
WHERE id = %(leaderboard_id)s;

-- Whoever stands in a ranking can't be deleted while it is computed: whoever deletes an account has it
-- before the rankings, and so has a sync.
-- name: lock_authors
SELECT 1 FROM users
WHERE id IN (
    SELECT author_id FROM submissions
    WHERE leaderboard_id = ANY(%(leaderboard_ids)s) AND mode = 'leaderboard'
)
ORDER BY id FOR KEY SHARE;

-- In the order in which all others take them, so that there is no deadlock: files name them in any.
-- name: lock_devices
SELECT 1 FROM leaderboard_devices WHERE leaderboard_id = ANY(%(leaderboard_ids)s)
ORDER BY leaderboard_id, device FOR NO KEY UPDATE;

-- What waits there would decide nothing, and a pair is dueled once: it is asked for again when the
-- device is offered again.
-- name: drop_duels
DELETE FROM duels
WHERE leaderboard_id = %(leaderboard_id)s AND state = 'waiting'
    AND NOT device = ANY(%(devices)s);

-- name: drop_devices
DELETE FROM leaderboard_devices
WHERE leaderboard_id = %(leaderboard_id)s AND NOT device = ANY(%(devices)s);

-- name: put_device
INSERT INTO leaderboard_devices (leaderboard_id, device, position)
VALUES (%(leaderboard_id)s, %(device)s, %(position)s)
ON CONFLICT (leaderboard_id, device) DO UPDATE SET position = excluded.position;

-- name: rebuild
SELECT rebuild_board_standings(%(leaderboard_id)s);
