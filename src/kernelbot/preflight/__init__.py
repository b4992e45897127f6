"""Preflight: what compilers say of a file for a GPU that needn't be there."""
