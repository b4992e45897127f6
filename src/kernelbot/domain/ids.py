"""The numbers that things are found by."""

BIGINT_MAX = 2**63 - 1
"""The largest whole number that the database holds."""


def can_be_id(number: int) -> bool:
    """Whether anything can have this number; the database refuses to be asked for others."""
    return 0 < number <= BIGINT_MAX
