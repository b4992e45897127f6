"""Judging by a problem's own script."""
