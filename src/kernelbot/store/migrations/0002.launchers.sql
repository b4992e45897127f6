-- What workers say of each launcher of a device.

ALTER TABLE worker_devices ADD COLUMN launchers jsonb NOT NULL DEFAULT '[]';
