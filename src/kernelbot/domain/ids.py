"""The database's numbers of things."""

BIGINT_MAX = 2**63 - 1
"""The largest whole number that the database holds."""


def can_be_id(number: int) -> bool:
    """Whether anything can have this number; the database refuses a query for others."""
    return 0 < number <= BIGINT_MAX
