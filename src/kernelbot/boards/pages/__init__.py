"""A board in a browser: for everyone, for other sites, and for its organisers."""
