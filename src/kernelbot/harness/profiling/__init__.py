"""Profiles of an author's kernel, for their eyes: they decide nothing and score nothing.

`inside` and `alone` run in the sandbox, beside the author's code; the rest is the judge's.
"""
