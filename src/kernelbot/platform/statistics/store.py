"""Counting submissions and runs."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from kernelbot.boards.model import Board
from kernelbot.domain.states import RunState
from kernelbot.platform.statistics.model import DeviceStatistics, Statistics
from kernelbot.protocol import Fault
from kernelbot.store.database import ReadSession
from kernelbot.store.sqlfiles import statements

TYPICAL = 2_000
_AT_WORK = (RunState.DISPATCHED, RunState.RUNNING)


async def count(session: ReadSession, board: Board | None, *, last_day: bool) -> Statistics:
    """Statistics of one board, or (None) of everything. Reads every run that is counted. Medians
    are those of the latest `TYPICAL` submissions."""
    sql = statements(__file__)
    values = {
        "leaderboard_id": board.id if board else None,
        "last_day": last_day,
        "typical": TYPICAL,
    }
    total, boards = [await session.one(sql[name], values) for name in ("submissions", "boards")]
    assert total is not None, "counting always gives a row"
    assert boards is not None, "counting always gives a row"
    everything = board is None and not last_day
    groups = await session.all(sql["all_runs" if everything else "runs"], values)
    devices = _devices(groups, await session.all(sql["medians"], values))
    return Statistics(
        board=board.name if board else None,
        last_day=last_day,
        boards=boards["boards"],
        submissions=total["submissions"],
        authors=total["authors"],
        runs=sum(device.runs for device in devices),
        passes=sum(device.passes for device in devices),
        devices=devices,
    )


def _devices(
    groups: Sequence[dict[str, Any]], medians: Sequence[dict[str, Any]]
) -> tuple[DeviceStatistics, ...]:
    """In the order of their names. `groups`: the runs of a device, a state and a fault."""
    by_device = defaultdict(list)
    for group in groups:
        by_device[group["device"]].append(group)
    typical = {row["device"]: (row["wait_s"], row["run_s"]) for row in medians}
    nothing = None, None
    return tuple(
        _device(name, by_device[name], *typical.get(name, nothing)) for name in sorted(by_device)
    )


def _device(
    name: str,
    groups: Sequence[dict[str, Any]],
    wait_median_s: float | None,
    run_median_s: float | None,
) -> DeviceStatistics:
    finished = [one for one in groups if one["state"] == RunState.FINISHED]
    waits = [one["wait_longest_s"] for one in groups if one["wait_longest_s"] is not None]
    return DeviceStatistics(
        device=name,
        runs=_runs(groups),
        passes=_runs(one for one in finished if one["fault"] is None),
        failures=_runs(one for one in finished if one["fault"] == Fault.AUTHOR),
        errors=_runs(one for one in groups if one["fault"] not in (None, Fault.AUTHOR)),
        waiting=_runs(one for one in groups if one["state"] == RunState.QUEUED),
        running=_runs(one for one in groups if one["state"] in _AT_WORK),
        wait_median_s=wait_median_s,
        wait_longest_s=max(waits, default=None),
        run_median_s=run_median_s,
        run_total_s=sum(one["run_total_s"] or 0.0 for one in finished),
    )


def _runs(groups: Iterable[dict[str, Any]]) -> int:
    return sum(one["runs"] for one in groups)
