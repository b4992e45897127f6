-- name: lock_owner
SELECT 1 AS locked FROM users WHERE id = %(owner_id)s FOR NO KEY UPDATE;

-- name: lock_board
SELECT 1 AS locked FROM leaderboards WHERE id = %(leaderboard_id)s FOR NO KEY UPDATE;

-- name: add
INSERT INTO webhooks (owner_id, leaderboard_id, url, events, secret)
SELECT %(owner_id)s, %(leaderboard_id)s, %(url)s, %(events)s, %(secret)s
WHERE (
    SELECT count(*) FROM webhooks
    WHERE leaderboard_id IS NOT DISTINCT FROM %(leaderboard_id)s
        AND (leaderboard_id IS NOT NULL OR owner_id = %(owner_id)s)
) < %(max_webhooks)s
RETURNING id;

-- name: shown
SELECT w.id, w.owner_id, u.name AS owner, b.name AS board, b.creator_id, w.url, w.events,
    w.created_at, w.failing_since, w.disabled_at, w.disabled_reason
FROM webhooks w
JOIN users u ON u.id = w.owner_id
LEFT JOIN leaderboards b ON b.id = w.leaderboard_id
WHERE w.id = %(webhook_id)s
    OR (%(webhook_id)s::bigint IS NULL AND CASE
        WHEN %(leaderboard_id)s::bigint IS NULL
            THEN w.leaderboard_id IS NULL AND w.owner_id = %(owner_id)s
        ELSE w.leaderboard_id = %(leaderboard_id)s
    END)
    OR (%(disabled)s AND w.disabled_at IS NOT NULL AND w.leaderboard_id IS NOT NULL)
ORDER BY w.id DESC;

-- name: delete
DELETE FROM webhooks WHERE id = %(webhook_id)s;

-- name: enable
UPDATE webhooks SET disabled_at = NULL, disabled_reason = NULL, failing_since = NULL,
    failures = 0, paused_until = NULL
WHERE id = %(webhook_id)s;

-- name: disable
UPDATE webhooks SET disabled_at = now(), disabled_reason = %(reason)s
WHERE id = %(webhook_id)s AND disabled_at IS NULL;

-- name: give_up
UPDATE webhook_messages SET next_at = NULL WHERE webhook_id = %(webhook_id)s AND next_at IS NOT NULL;

-- name: try_it
INSERT INTO webhook_messages (webhook_id, event, subject, data)
SELECT %(webhook_id)s, 'webhook.test', gen_random_uuid()::text, '{}'
WHERE NOT EXISTS (
    SELECT 1 FROM webhook_messages
    WHERE webhook_id = %(webhook_id)s AND event = 'webhook.test' AND next_at IS NOT NULL
);

-- name: messages
SELECT message_id::text, event, created_at, tries, next_at, tried_at, delivered_at, status,
    error
FROM webhook_messages WHERE webhook_id = %(webhook_id)s
ORDER BY id DESC LIMIT %(limit)s;

-- The next messages, one of each webhook that may be told: those first whose owner had their last turn
-- the longest ago. A webhook that fails is told one message at a time.
-- name: due
SELECT m.id
FROM webhooks w
CROSS JOIN LATERAL (
    SELECT id, next_at FROM webhook_messages
    WHERE webhook_id = w.id AND next_at <= now() ORDER BY next_at, id LIMIT 1
) m
WHERE w.id IN (SELECT webhook_id FROM webhook_messages WHERE next_at <= now())
    AND w.disabled_at IS NULL AND coalesce(w.paused_until <= now(), true)
    AND w.owner_id <> ALL(%(owners)s) AND w.host <> ALL(%(hosts)s)
    AND NOT (w.failures > 0 AND w.id = ANY(%(webhooks)s))
ORDER BY (SELECT max(told_at) FROM webhooks o WHERE o.owner_id = w.owner_id) NULLS FIRST,
    w.told_at NULLS FIRST, m.next_at
LIMIT %(limit)s;

-- name: claim
WITH claimed AS (
    UPDATE webhook_messages
    SET tries = tries + 1, tried_at = now(), next_at = now() + make_interval(secs => %(lease_s)s)
    WHERE id = %(id)s AND next_at <= now()
    RETURNING *
)
UPDATE webhooks w SET told_at = now()
FROM claimed m
WHERE w.id = m.webhook_id
RETURNING m.id, m.webhook_id, m.message_id::text, m.event, m.data, m.created_at, m.tries, w.secret,
    coalesce(extract(epoch FROM now() - w.failing_since), 0)::float8 AS failing_s, w.owner_id, w.host;

-- name: delivered
WITH told AS (
    UPDATE webhook_messages
    SET delivered_at = now(), next_at = NULL, status = %(status)s, error = NULL
    WHERE id = %(id)s
    RETURNING webhook_id
)
UPDATE webhooks SET failing_since = NULL, failures = 0, paused_until = NULL FROM told
WHERE webhooks.id = told.webhook_id AND failures > 0;

-- `tries`: of the attempt that has failed; somebody else may have begun another meanwhile. What
-- waits while the webhook is paused has a task at the end of the pause. Of a webhook that was disabled
-- meanwhile nothing waits: it would be told of that once it is enabled again.
-- name: failed
WITH told AS (
    UPDATE webhook_messages
    SET next_at = CASE
            WHEN (SELECT disabled_at FROM webhooks WHERE id = webhook_id) IS NULL
            THEN now() + make_interval(secs => %(pause_s)s)
        END, status = %(status)s, error = %(error)s
    WHERE id = %(id)s AND tries = %(tries)s AND delivered_at IS NULL
    RETURNING webhook_id
), paused AS (
    UPDATE webhooks SET failing_since = coalesce(failing_since, now()), failures = failures + 1,
        paused_until = now() + make_interval(
            secs => least(%(first_s)s * 2.0 ^ least(failures, 30), %(longest_s)s)
        )
    FROM told WHERE webhooks.id = told.webhook_id
    RETURNING paused_until
)
SELECT defer_delivery_at(%(id)s, paused_until) FROM paused;

-- name: tell_deadlines
SELECT tell_deadlines();

-- name: forget
DELETE FROM webhook_messages WHERE next_at IS NULL AND created_at < now() - interval '30 days';
