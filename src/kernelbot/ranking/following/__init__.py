"""Boards and authors that a person follows, and what is new there."""
