"""Profiles of a kernel, for its author: they have no influence on verdict or score.

`inside` and `alone` run in the sandbox, beside the author's code; the rest runs in the judge.
"""
