"""Deleting submissions, boards and accounts."""
