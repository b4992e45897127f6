"""Whether the platform can do its work."""
