"""Profiles of a kernel, for its author: they have no influence on verdict or score.

What runs in the sandbox, beside the author's code, is in `inside/profiling/`.
"""
