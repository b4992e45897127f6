-- name: defer
SELECT bring_job(%(run_id)s, %(device)s, %(priority)s, %(delay_s)s);
