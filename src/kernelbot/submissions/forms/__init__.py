"""Submitting by a form that may be sent twice."""
