ALTER TABLE device_logins DROP COLUMN polled_at, DROP COLUMN interval_s;
