-- name: add_problem
INSERT INTO problems (name) VALUES (%(name)s)
ON CONFLICT (name) DO UPDATE SET name = excluded.name
RETURNING id;

-- name: add_version
WITH added AS (
    INSERT INTO problem_versions (
        problem_id, content_hash, judging_hash, definition, harness, ranking_by
    )
    VALUES (
        %(problem_id)s, %(content_hash)s, %(judging_hash)s, %(definition)s, %(harness)s,
        %(ranking_by)s
    )
    ON CONFLICT (problem_id, content_hash) DO NOTHING
    RETURNING id
)
SELECT id FROM added
UNION ALL
SELECT id FROM problem_versions
WHERE problem_id = %(problem_id)s AND content_hash = %(content_hash)s
LIMIT 1;

-- Of the version that the run was judged by, as `lock_run` has it: a rejudge's, or for a duel that of
-- the board.
-- name: note_recurring_data
INSERT INTO recurring_data (problem_version_id, said)
SELECT CASE WHEN r.duel_id IS NULL THEN coalesce(j.problem_version_id, s.problem_version_id)
    ELSE b.problem_version_id END, %(said)s
FROM runs r
LEFT JOIN duels d ON d.id = r.duel_id
JOIN submissions s ON s.id = coalesce(r.submission_id, d.submission_id)
JOIN leaderboards b ON b.id = s.leaderboard_id
LEFT JOIN rejudges j ON j.id = r.rejudge_id
WHERE r.id = %(run_id)s
ON CONFLICT DO NOTHING;

-- name: create
INSERT INTO leaderboards (
    name, description, problem_version_id, visibility, deadline, creator_id, secret
)
VALUES (
    %(name)s, %(description)s, %(problem_version_id)s, %(visibility)s, %(deadline)s,
    %(creator_id)s, %(secret)s
)
ON CONFLICT DO NOTHING
RETURNING id;

-- name: add_device
INSERT INTO leaderboard_devices (leaderboard_id, device, position)
VALUES (%(leaderboard_id)s, %(device)s, %(position)s);

-- name: all
SELECT *, visibility = 'closed' AND is_member(id, %(viewer_id)s) AS invited
FROM shown_boards ORDER BY id DESC;

-- name: hidden_in
SELECT b.id FROM leaderboards b JOIN guilds g ON g.id = %(guild_id)s
WHERE g.competition_id <> coalesce(b.competition_id, 0);

-- name: by_name
SELECT *, visibility = 'closed' AND is_member(id, %(viewer_id)s) AS invited
FROM shown_boards WHERE lower(name) = lower(%(name)s);

-- name: lock
SELECT 1 FROM leaderboards WHERE id = %(id)s FOR NO KEY UPDATE;

-- name: edit
UPDATE leaderboards SET visibility = %(visibility)s, deadline = %(deadline)s,
    reveal_code = %(reveal_code)s, fixed_seed = %(fixed_seed)s,
    refuse_unavailable = %(refuse_unavailable)s, try_on_cpu = %(try_on_cpu)s
WHERE id = %(id)s;

-- name: devices_for_torch
-- Whose open boards have a problem with files that mention torch or what comes with it.
SELECT DISTINCT d.device FROM leaderboard_devices d
JOIN leaderboards l ON l.id = d.leaderboard_id
JOIN problem_versions v ON v.id = l.problem_version_id
WHERE v.harness = 'native' AND (l.deadline IS NULL OR l.deadline > now())
    AND v.definition::text ~ 'torch|triton';

-- name: definition
SELECT definition FROM problem_versions WHERE id = %(problem_version_id)s;

-- What lists say of problems. Of a long description the beginning is enough for its first sentence.
-- name: summaries
SELECT id, lang, definition ->> 'summary' AS summary, definition ->> 'difficulty' AS difficulty,
    definition -> 'tags' AS tags, left(definition ->> 'description', 4000) AS description
FROM problem_versions WHERE id = ANY(%(ids)s);
