"""Tests of preflights."""
