"""Pages about people: one's own account, and for admins everybody's."""
