-- name: line
SELECT queue_line(%(submission_id)s, %(ranked_first)s, %(fresh_s)s, %(limited)s) AS line;
