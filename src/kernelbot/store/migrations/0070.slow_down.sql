-- depends: 0021.logins
-- Terminals that poll too often are told to slow down (RFC 8628, 3.5).
ALTER TABLE device_logins
    ADD COLUMN polled_at timestamptz,
    ADD COLUMN interval_s integer NOT NULL DEFAULT 2 CHECK (interval_s > 0);
