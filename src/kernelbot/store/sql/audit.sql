-- name: record
INSERT INTO audit_log (actor_id, actor, action, subject, detail)
VALUES (%(actor_id)s, %(actor)s, %(action)s, %(subject)s, %(detail)s::jsonb);
