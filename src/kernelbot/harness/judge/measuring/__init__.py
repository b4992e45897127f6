"""Measuring one workload: which calls are made, and what their samples are."""
