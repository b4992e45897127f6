-- An author's old forms go with each new one.
-- name: forget
DELETE FROM sent_forms WHERE author_id = %(author_id)s AND sent_at < now() - interval '1 day';

-- name: claim
INSERT INTO sent_forms (author_id, form) VALUES (%(author_id)s, %(form)s)
ON CONFLICT DO NOTHING RETURNING true AS claimed;

-- name: note
UPDATE sent_forms SET submission_id = %(submission_id)s
WHERE author_id = %(author_id)s AND form = %(form)s;

-- name: submission_of
SELECT s.id, l.name AS board, s.mode, s.file_name, s.source_sha256,
    ARRAY(SELECT DISTINCT r.device FROM runs r WHERE r.submission_id = s.id) AS devices
FROM sent_forms f
JOIN submissions s ON s.id = f.submission_id
JOIN leaderboards l ON l.id = s.leaderboard_id
WHERE f.author_id = %(author_id)s AND f.form = %(form)s;
