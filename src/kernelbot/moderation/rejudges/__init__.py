"""Measuring a board's best again."""
