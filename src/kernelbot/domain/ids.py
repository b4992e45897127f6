"""The database's numbers of things, and how many of them a list has."""

BIGINT_MAX = 2**63 - 1
"""The largest whole number that the database holds."""
PAGE_ROWS = 50
"""How many rows of a list come at once if nobody says."""


def can_be_id(number: int) -> bool:
    """Whether anything can have this number; the database refuses a query for others."""
    return 0 < number <= BIGINT_MAX
