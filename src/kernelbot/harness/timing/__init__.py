"""Measuring times, when to stop sampling, and whether a claimed time can be true."""
