"""What workers say of each launcher of a device."""

from yoyo import step

__depends__ = {"0001.tables"}

steps = [
    step("ALTER TABLE worker_devices ADD COLUMN launchers jsonb NOT NULL DEFAULT '[]'"),
]
