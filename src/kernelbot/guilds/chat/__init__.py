"""Answers in a chat that tell of submissions."""
