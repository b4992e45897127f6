-- name: add_key
INSERT INTO signing_keys (key_id, public_key, private_key)
VALUES (%(key_id)s, %(public_key)s, %(private_key)s)
ON CONFLICT DO NOTHING;

-- name: private_key
SELECT private_key FROM signing_keys WHERE retired_at IS NULL;

-- name: retire_key
UPDATE signing_keys SET retired_at = now(), private_key = NULL WHERE retired_at IS NULL;

-- name: keys
SELECT key_id, public_key, created_at, retired_at FROM signing_keys
ORDER BY created_at DESC, retired_at DESC NULLS FIRST;

-- What the submission's finished runs were judged by, its rejudges' as well.
-- name: problem_versions
SELECT r.id AS run_id, p.name AS problem, v.id, v.content_hash, v.judging_hash,
    v.ranking_by
FROM runs r
JOIN submissions s ON s.id = r.submission_id
LEFT JOIN rejudges j ON j.id = r.rejudge_id
JOIN problem_versions v ON v.id = coalesce(j.problem_version_id, s.problem_version_id)
JOIN problems p ON p.id = v.problem_id
WHERE r.submission_id = %(submission_id)s AND r.state = 'finished';
