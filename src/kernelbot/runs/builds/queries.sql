-- name: find
UPDATE builds SET used_at = now() WHERE key = %(key)s AND built_at IS NOT NULL
RETURNING described, content, preflight;

-- Whose attempt builds it goes on with the job that it has; whoever takes it over begins anew. An
-- attempt that has ended, or whose source was deleted, begins nothing.
-- name: begin
INSERT INTO builds AS b (key, source_sha256, attempt_id)
SELECT %(key)s, c.sha256, mine.id FROM sources c, attempts mine
WHERE c.sha256 = %(source_sha256)s
    AND mine.id = %(attempt_id)s AND mine.state IN ('launching', 'running')
ON CONFLICT (key) DO UPDATE SET
    attempt_id = excluded.attempt_id,
    tries = CASE WHEN b.attempt_id = excluded.attempt_id THEN b.tries ELSE 0 END,
    launcher = CASE WHEN b.attempt_id = excluded.attempt_id THEN b.launcher END,
    handle = CASE WHEN b.attempt_id = excluded.attempt_id THEN b.handle END
WHERE b.built_at IS NULL AND (b.attempt_id = excluded.attempt_id OR NOT EXISTS (
    SELECT 1 FROM attempts a WHERE a.id = b.attempt_id AND a.state IN ('launching', 'running')
))
RETURNING tries, launcher, handle;

-- name: launched
UPDATE builds SET tries = %(tries)s, launcher = %(launcher)s, handle = %(handle)s
WHERE key = %(key)s AND attempt_id = %(attempt_id)s AND built_at IS NULL;

-- name: keep
UPDATE builds SET built_at = now(), used_at = now(), launcher = NULL, handle = NULL,
    sha256 = %(sha256)s, described = %(described)s::jsonb, content = %(content)s,
    preflight = %(preflight)s::jsonb
WHERE key = %(key)s AND attempt_id = %(attempt_id)s AND built_at IS NULL;

-- name: drop
DELETE FROM builds WHERE key = %(key)s AND attempt_id = %(attempt_id)s AND built_at IS NULL;

-- What was used last stays; and so does what is being built.
-- name: evict
DELETE FROM builds WHERE key IN (
    SELECT key FROM (
        SELECT key, sum(coalesce(octet_length(content), 0)
            + coalesce(pg_column_size(preflight), 0) + %(of_a_row_bytes)s)
            OVER (ORDER BY used_at DESC, key) AS together_bytes
        FROM builds WHERE built_at IS NOT NULL
    ) kept
    WHERE together_bytes > %(limit_bytes)s
);

-- name: product
SELECT described, content FROM builds WHERE sha256 = %(sha256)s LIMIT 1;

-- The next run whose file may be compiled for a report alone: its submission has none yet.
-- name: next_without_report
SELECT r.id AS run_id, s.id AS submission_id, r.device, s.problem_version_id, s.file_name,
    c.content AS code
FROM runs r
JOIN submissions s ON s.id = r.submission_id
JOIN sources c ON c.sha256 = s.source_sha256
WHERE r.device = ANY(%(devices)s) AND r.state IN ('queued', 'dispatched', 'running')
    AND r.id <> ALL(%(seen)s) AND NOT r.secret AND r.rejudge_id IS NULL AND r.duel_id IS NULL
    AND NOT EXISTS (
        SELECT 1 FROM preflights p WHERE p.submission_id = s.id AND p.device = r.device
    )
ORDER BY r.id LIMIT 1;

-- name: open_among
SELECT id FROM runs WHERE id = ANY(%(ids)s) AND state IN ('queued', 'dispatched', 'running');

-- name: lock_open_run
SELECT id FROM runs
WHERE id = %(run_id)s AND state IN ('queued', 'dispatched', 'running') FOR NO KEY UPDATE;
