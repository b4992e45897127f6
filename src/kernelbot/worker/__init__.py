"""Takes queued jobs, drives launchers, re-attaches after a restart."""
