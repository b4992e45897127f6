"""Fields of forms that several pages have."""

from datetime import UTC, datetime

from kernelbot.catalog.competition import parse_deadline
from kernelbot.domain.errors import UserError


def deadline_field(deadline: datetime | None) -> str:
    """A deadline as a browser's field for date and time holds it, in UTC; empty: none."""
    return f"{deadline.astimezone(UTC):%Y-%m-%dT%H:%M}" if deadline else ""


def read_deadline(text: str) -> datetime | None:
    """What such a field, or a person without one, sends; empty is None. Raises `UserError`."""
    try:
        return parse_deadline(text.replace("T", " "))
    except ValueError as error:
        raise UserError(
            f"{error}.", hint="Write it as 2027-01-31 12:00, or leave the field empty."
        ) from None
