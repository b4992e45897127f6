"""Submissions in a browser."""
