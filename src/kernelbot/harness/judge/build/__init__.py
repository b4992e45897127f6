"""Compiling, and caching the results."""
