"""Devices, their launchers, and how busy they are."""
