"""Tokens and, later, identity providers."""
