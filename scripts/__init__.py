"""What make and people run from a checkout; not part of the installed package."""
