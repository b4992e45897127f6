"""Helpers for the checkers of problems: exact about kind, clear about what differs.

References import it where they are judged; it needs numpy or torch only for arrays of theirs.

    from kernelbot_check import compare, match_reference

    check_implementation = match_reference(ref_kernel, rtol=1e-5, atol=1e-6)
"""

from kernelbot_check.compare import compare, describe
from kernelbot_check.reference import match_reference, relative_to

__all__ = ["compare", "describe", "match_reference", "relative_to"]
