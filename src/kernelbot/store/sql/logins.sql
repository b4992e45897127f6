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

-- Once alone, and from the browser that began it.
-- name: take
DELETE FROM login_attempts
WHERE state_hash = %(state_hash)s AND browser_hash = %(browser_hash)s
    AND provider = %(provider)s AND expires_at > now()
RETURNING code_verifier, redirect_uri, next_path, invite, linking_user_id;

-- name: begin_device
INSERT INTO device_logins (device_hash, user_code, expires_at)
VALUES (%(device_hash)s, %(user_code)s, now() + make_interval(secs => %(lasts_s)s));

-- name: forget_expired_devices
DELETE FROM device_logins WHERE expires_at < now();

-- name: approve_device
UPDATE device_logins SET user_id = %(user_id)s
WHERE user_code = %(user_code)s AND user_id IS NULL AND expires_at > now();

-- name: device_waits
SELECT user_id IS NULL AS waits FROM device_logins
WHERE device_hash = %(device_hash)s AND expires_at > now();

-- name: take_device
DELETE FROM device_logins
WHERE device_hash = %(device_hash)s AND user_id IS NOT NULL AND expires_at > now()
RETURNING user_id;
