"""Marks: when a call began and ended, and the bytes that were there then."""
