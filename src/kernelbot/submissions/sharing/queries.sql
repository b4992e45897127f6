-- name: of_submission
SELECT submission_id, secret, shows_code, created_at FROM result_links
WHERE submission_id = %(submission_id)s;

-- name: by_secret
SELECT submission_id, secret, shows_code, created_at FROM result_links WHERE secret = %(secret)s;

-- name: put
INSERT INTO result_links (submission_id, secret, shows_code)
VALUES (%(submission_id)s, %(secret)s, %(shows_code)s)
ON CONFLICT (submission_id) DO UPDATE SET shows_code = excluded.shows_code
RETURNING submission_id, secret, shows_code, created_at;

-- name: delete
DELETE FROM result_links WHERE submission_id = %(submission_id)s;
