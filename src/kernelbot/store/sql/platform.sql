-- name: state
SELECT accepts_jobs, reason FROM platform;

-- name: set
UPDATE platform SET accepts_jobs = %(accepts_jobs)s, reason = %(reason)s
RETURNING accepts_jobs, reason;
