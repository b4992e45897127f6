"""Runs beside the device: builds, checks, measures, profiles, in a sandbox. Ships alone."""
