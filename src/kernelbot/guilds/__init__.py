"""Discord servers: their members, and what they are told."""
