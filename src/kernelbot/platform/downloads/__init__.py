"""What people fetch from this server."""
