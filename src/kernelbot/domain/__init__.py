"""Frozen types, enums with their transitions, and the error tree. No input or output."""
