"""Measurements people can run: each prints a table and compares in one run."""
