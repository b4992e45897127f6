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
SELECT submission_id FROM sent_forms WHERE author_id = %(author_id)s AND form = %(form)s;
