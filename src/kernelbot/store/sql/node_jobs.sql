-- name: key
SELECT link_key, extract(epoch FROM now())::float8 AS now_s FROM platform;

-- name: job
SELECT a.terms, s.file_name, c.content AS code,
    coalesce(j.problem_version_id, s.problem_version_id) AS problem_version_id
FROM attempts a
JOIN runs r ON r.id = a.run_id
JOIN submissions s ON s.id = r.submission_id
JOIN sources c ON c.sha256 = s.source_sha256
LEFT JOIN rejudges j ON j.id = r.rejudge_id
WHERE a.run_id = %(run_id)s AND a.number = %(number)s AND a.state IN ('launching', 'running');

-- name: events_received
SELECT events_received FROM attempts
WHERE run_id = %(run_id)s AND number = %(number)s AND state IN ('launching', 'running');

-- name: receive_events
UPDATE attempts SET events_received = %(count)s
WHERE run_id = %(run_id)s AND number = %(number)s AND state IN ('launching', 'running');
