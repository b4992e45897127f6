"""The long-lived process on a device's machine: keeps zygotes warm and guards the jobs."""
