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

-- name: visible
SELECT
    b.id, b.name, b.description, p.name AS problem_name, b.problem_version_id, v.harness,
    v.ranking_by, b.visibility, b.deadline, b.reveal_code, b.created_at,
    (
        SELECT array_agg(d.device ORDER BY d.position) FROM leaderboard_devices d
        WHERE d.leaderboard_id = b.id
    ) AS devices
FROM leaderboards b
JOIN problem_versions v ON v.id = b.problem_version_id
JOIN problems p ON p.id = v.problem_id
WHERE (
        b.visibility = 'public' OR %(everything)s OR b.creator_id = %(viewer_id)s
        OR is_member(b.id, %(viewer_id)s)
    )
    AND (%(name)s::text IS NULL OR lower(b.name) = lower(%(name)s::text))
ORDER BY b.id DESC;

-- name: by_name
SELECT
    b.id, b.name, b.description, p.name AS problem_name, b.problem_version_id, v.harness,
    v.ranking_by, b.visibility, b.deadline, b.reveal_code, b.created_at, b.creator_id,
    b.visibility = 'closed' AND is_member(b.id, %(viewer_id)s) AS invited,
    d.devices, d.authors, d.versions
FROM leaderboards b
JOIN problem_versions v ON v.id = b.problem_version_id
JOIN problems p ON p.id = v.problem_id
CROSS JOIN LATERAL (
    SELECT array_agg(device ORDER BY position) AS devices,
        array_agg(authors ORDER BY position) AS authors,
        array_agg(version ORDER BY position) AS versions
    FROM leaderboard_devices WHERE leaderboard_id = b.id
) d
WHERE lower(b.name) = lower(%(name)s);

-- name: edit
UPDATE leaderboards SET visibility = %(visibility)s, deadline = %(deadline)s,
    reveal_code = %(reveal_code)s
WHERE id = %(leaderboard_id)s;

-- name: definition
SELECT definition FROM problem_versions WHERE id = %(problem_version_id)s;
