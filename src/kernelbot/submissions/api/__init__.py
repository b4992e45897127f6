"""Submissions over HTTP."""
