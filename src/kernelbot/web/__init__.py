"""Pages for browsers, rendered here: they translate between people and the services."""
