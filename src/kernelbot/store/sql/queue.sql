-- name: defer
SELECT bring_job(%(run_id)s, %(device)s, %(priority)s, %(delay_s)s);

-- name: line
SELECT queue_line(%(submission_id)s, %(ranked_first)s, %(fresh_s)s, %(limited)s) AS line;
