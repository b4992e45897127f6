"""Counting submissions and runs."""

from kernelbot.domain.statistics import DeviceStatistics, Statistics
from kernelbot.domain.types import Board
from kernelbot.store.database import ReadSession
from kernelbot.store.sqlfiles import statements

TYPICAL = 10_000


async def count(session: ReadSession, board: Board | None, *, last_day: bool) -> Statistics:
    """Statistics of one board, or (None) of everything. Reads every run that is counted. Medians
    are those of the latest `TYPICAL` submissions."""
    sql = statements("statistics")
    values = {
        "leaderboard_id": board.id if board else None,
        "last_day": last_day,
        "typical": TYPICAL,
    }
    total = await session.one(sql["submissions"], values)
    assert total is not None, "counting always gives a row"
    devices = tuple(DeviceStatistics(**row) for row in await session.all(sql["devices"], values))
    return Statistics(
        board=board.name if board else None,
        last_day=last_day,
        boards=total["boards"],
        submissions=total["submissions"],
        authors=total["authors"],
        runs=sum(device.runs for device in devices),
        passes=sum(device.passes for device in devices),
        devices=devices,
    )
