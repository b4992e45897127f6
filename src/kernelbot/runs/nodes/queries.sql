-- name: key
SELECT link_key, extract(epoch FROM now())::float8 AS now_s FROM platform;

-- name: job
SELECT a.terms, coalesce(s.file_name, k.name) AS file_name, c.content AS code,
    opponent.file_name AS opponent_file_name, opposed.content AS opponent_code,
    CASE WHEN r.duel_id IS NULL
        THEN coalesce(j.problem_version_id, s.problem_version_id, k.problem_version_id)
        ELSE b.problem_version_id END AS problem_version_id
FROM attempts a
JOIN runs r ON r.id = a.run_id
LEFT JOIN duels d ON d.id = r.duel_id
LEFT JOIN known_right k ON k.id = r.known_id
LEFT JOIN submissions s ON s.id = coalesce(r.submission_id, d.submission_id)
JOIN leaderboards b ON b.id = coalesce(s.leaderboard_id, k.leaderboard_id)
JOIN sources c ON c.sha256 = coalesce(s.source_sha256, k.source_sha256)
LEFT JOIN rejudges j ON j.id = r.rejudge_id
LEFT JOIN submissions opponent ON opponent.id = d.opponent_id
LEFT JOIN sources opposed ON opposed.sha256 = opponent.source_sha256
WHERE a.run_id = %(run_id)s AND a.number = %(number)s AND a.state IN ('launching', 'running');

-- name: events_received
SELECT events_received FROM attempts
WHERE run_id = %(run_id)s AND number = %(number)s AND state IN ('launching', 'running');

-- name: receive_events
UPDATE attempts SET events_received = %(count)s
WHERE run_id = %(run_id)s AND number = %(number)s AND state IN ('launching', 'running');
