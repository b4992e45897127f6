-- name: record
INSERT INTO audit_log (actor_id, actor, action, subject, detail)
VALUES (%(actor_id)s, %(actor)s, %(action)s, %(subject)s, %(detail)s::jsonb);

-- name: page
SELECT id, actor, actor_id, action, subject, detail, created_at FROM audit_log
WHERE (%(before_id)s::bigint IS NULL OR id < %(before_id)s::bigint)
    AND (%(subject)s::text IS NULL OR subject = %(subject)s::text)
    AND (%(actor)s::text IS NULL OR lower(actor) = lower(%(actor)s::text))
    AND (
        %(action)s::text IS NULL OR action = %(action)s::text
        OR starts_with(action, %(action)s::text || '.')
    )
ORDER BY id DESC LIMIT %(limit)s;
