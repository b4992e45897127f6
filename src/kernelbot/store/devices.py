"""How busy devices are, and what the workers last said of them."""

from dataclasses import dataclass

from kernelbot.store.database import ReadSession
from kernelbot.store.sqlfiles import statements


@dataclass(frozen=True)
class Load:
    """Runs on a device that haven't ended, and for how long the oldest has waited."""

    queued: int
    running: int
    longest_wait_s: float


@dataclass(frozen=True)
class Report:
    """What a worker said of a device."""

    device: str
    available: bool
    note: str


async def load(session: ReadSession) -> dict[str, Load]:
    """By device; devices where nothing waits or runs are left out."""
    rows = await session.all(statements("devices")["load"])
    return {r["device"]: Load(r["queued"], r["running"], r["longest_wait_s"]) for r in rows}


async def reports(session: ReadSession, fresh_s: float) -> list[Report]:
    """Of workers heard of within `fresh_s`; the available first."""
    rows = await session.all(statements("devices")["reports"], {"fresh_s": fresh_s})
    return [Report(**row) for row in rows]


async def workers(session: ReadSession, fresh_s: float) -> int:
    """How many workers were heard of within `fresh_s`."""
    row = await session.one(statements("devices")["workers"], {"fresh_s": fresh_s})
    return int(row["workers"]) if row else 0
