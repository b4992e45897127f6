"""Leaderboards and their problems."""
