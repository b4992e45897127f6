"""Compiling, and keeping what was compiled."""
