"""Logging in through a provider, in a browser or from a terminal."""
