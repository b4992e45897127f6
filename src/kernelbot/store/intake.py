"""What decides whether a submission is taken in, read at once."""

from dataclasses import dataclass
from datetime import datetime

from kernelbot.domain.accounts import LimitCategory, PlatformState
from kernelbot.domain.types import Visibility
from kernelbot.store.database import ReadSession
from kernelbot.store.sqlfiles import statements


@dataclass(frozen=True)
class Destination:
    """The board that a submission is for. `max_per_hour` None: any number."""

    id: int
    name: str
    problem_version_id: int
    creator_id: int
    visibility: Visibility
    deadline: datetime | None
    invited: bool
    devices: tuple[str, ...]
    max_per_hour: int | None


async def facts(
    session: ReadSession, name: str, author_id: int, category: LimitCategory
) -> tuple[PlatformState, Destination | None]:
    """Whether submissions are taken at all, and the board of that name, in any case of letters."""
    values = {"name": name, "author_id": author_id, "category": category}
    row = await session.one(statements("intake")["facts"], values)
    assert row is not None, "the migration puts the platform's one row there"
    state = PlatformState(row.pop("accepts_jobs"), row.pop("reason"))
    if row["id"] is None:
        return state, None
    visibility, devices = Visibility(row.pop("visibility")), tuple(row.pop("devices"))
    return state, Destination(**row, visibility=visibility, devices=devices)
