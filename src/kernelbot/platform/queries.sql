-- name: state
SELECT accepts_jobs, reason FROM platform;

-- name: set
UPDATE platform SET accepts_jobs = %(accepts_jobs)s, reason = %(reason)s
RETURNING accepts_jobs, reason;

-- name: is_copy
-- Also of a schema that is older, of which readiness says so.
SELECT coalesce((to_jsonb(p) ->> 'is_copy')::boolean, false) AS is_copy FROM platform p;

-- name: set_copy
UPDATE platform SET is_copy = %(is_copy)s;
