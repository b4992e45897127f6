"""Whose turn it is at a device, and how long the others wait."""
