-- A report that is another one gets another id. One of a submission that was deleted meanwhile is
-- stored nowhere.
-- name: keep
INSERT INTO preflights AS p (submission_id, device, report)
SELECT s.id, %(device)s, %(report)s::jsonb FROM submissions s WHERE s.id = %(submission_id)s
ON CONFLICT (submission_id, device) DO UPDATE
    SET id = DEFAULT, report = excluded.report
WHERE p.report IS DISTINCT FROM excluded.report
RETURNING id;

-- name: before
SELECT b.report FROM shown_preflights s JOIN preflights b ON b.id = s.before_id
WHERE s.submission_id = %(submission_id)s AND s.device = %(device)s;

-- name: reports
SELECT id, report FROM preflights WHERE id = ANY(%(ids)s::bigint[]);
