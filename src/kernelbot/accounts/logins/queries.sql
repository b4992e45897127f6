-- name: begin
INSERT INTO login_attempts (
    state_hash, browser_hash, provider, code_verifier, redirect_uri, next_path, invite,
    linking_user_id, expires_at
)
VALUES (
    %(state_hash)s, %(browser_hash)s, %(provider)s, %(code_verifier)s, %(redirect_uri)s,
    %(next_path)s, %(invite)s, %(linking_user_id)s, now() + make_interval(secs => %(lasts_s)s)
);

-- name: forget_expired
DELETE FROM login_attempts WHERE expires_at < now();

-- Only once, and only from the browser that began it.
-- name: take
DELETE FROM login_attempts
WHERE state_hash = %(state_hash)s AND browser_hash = %(browser_hash)s
    AND provider = %(provider)s AND expires_at > now()
RETURNING code_verifier, redirect_uri, next_path, invite, linking_user_id;

-- name: begin_device
INSERT INTO device_logins (device_hash, user_code, expires_at, interval_s)
VALUES (
    %(device_hash)s, %(user_code)s, now() + make_interval(secs => %(lasts_s)s), %(interval_s)s
);

-- name: forget_expired_devices
DELETE FROM device_logins WHERE expires_at < now();

-- name: approve_device
UPDATE device_logins SET user_id = %(user_id)s, parent_id = %(parent_id)s
WHERE user_code = %(user_code)s AND user_id IS NULL AND expires_at > now();

-- A terminal that polls too early gets a longer interval from then on. A poll in the future is from
-- before the clock was set back.
-- name: poll_device
WITH polled AS (
    SELECT device_hash, user_id IS NULL AS waits,
        coalesce(
            polled_at BETWEEN now() - make_interval(secs => interval_s - %(slack_s)s) AND now(),
            false
        ) AS too_early
    FROM device_logins WHERE device_hash = %(device_hash)s AND expires_at > now()
    FOR UPDATE
)
UPDATE device_logins d SET polled_at = now(),
    interval_s = interval_s + CASE WHEN waits AND too_early THEN %(more_s)s ELSE 0 END
FROM polled WHERE d.device_hash = polled.device_hash
RETURNING waits, waits AND too_early AS too_early, interval_s;

-- Who would be logged in by a link that is still valid; as `take_device`, which takes it.
-- name: link_owner
SELECT user_id FROM device_logins
WHERE device_hash = %(device_hash)s AND user_id IS NOT NULL AND expires_at > now()
    AND (token_ends_at(parent_id) > now()) IS NOT FALSE;

-- name: take_device
DELETE FROM device_logins
WHERE device_hash = %(device_hash)s AND user_id IS NOT NULL AND expires_at > now()
    AND (token_ends_at(parent_id) > now()) IS NOT FALSE
RETURNING user_id, parent_id;
