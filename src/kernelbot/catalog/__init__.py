"""Reads and validates problem and competition definitions."""
