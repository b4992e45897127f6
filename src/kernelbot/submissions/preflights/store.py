"""What compilers said of submissions, a report for each GPU that one was built for."""

from collections.abc import Sequence
from typing import Any

from kernelbot.preflight.model import Preflight, PreflightReport
from kernelbot.schemas.values import from_row, plain
from kernelbot.store.database import ReadSession, WriteSession
from kernelbot.store.jsontext import dumps
from kernelbot.store.sqlfiles import statements


async def keep(
    session: WriteSession, submission_id: int, device: str, report: PreflightReport
) -> bool:
    """Store what a submission's author is told of the build for a device. False: they were told
    the same before."""
    values = {"submission_id": submission_id, "device": device, "report": dumps(plain(report))}
    return await session.one(statements(__file__)["keep"], values) is not None


async def before(session: ReadSession, submission_id: int, device: str) -> PreflightReport | None:
    """The preflight of the author's previous version, as `shown_preflights` finds it; None: there
    is none."""
    values = {"submission_id": submission_id, "device": device}
    row = await session.one(statements(__file__)["before"], values)
    return None if row is None else read_report(row["report"])


async def preflights(
    session: ReadSession, ids: Sequence[tuple[int, int | None]]
) -> tuple[Preflight, ...]:
    """The reports of these ids, each beside that of the version before; without those that were
    replaced or deleted meanwhile, or that another release has written in another form."""
    wanted = [number for pair in ids for number in pair if number is not None]
    rows = await session.all(statements(__file__)["reports"], {"ids": wanted})
    reports = {row["id"]: read_report(row["report"]) for row in rows}
    found = ((reports.get(number), before) for number, before in ids)
    return tuple(
        Preflight(report, None if before is None else reports.get(before))
        for report, before in found
        if report is not None
    )


def read_report(stored: Any) -> PreflightReport | None:
    """A stored report, from the JSON of its column; None if there is none, or if another release
    has written it in a form that this one can't read."""
    try:
        return None if stored is None else from_row(PreflightReport, stored)
    except ValueError:  # pydantic's `ValidationError`
        return None
