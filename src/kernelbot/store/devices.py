"""How busy devices are, and the workers' last reports on them."""

from dataclasses import dataclass

from kernelbot.domain.types import DeviceReport
from kernelbot.store.database import ReadSession
from kernelbot.store.sqlfiles import statements


@dataclass(frozen=True)
class Length:
    """How many runs wait for a device, and how many it is judging."""

    queued: int = 0
    running: int = 0


@dataclass(frozen=True)
class Load(Length):
    """The same, with how long the oldest that waits has waited."""

    longest_wait_s: float = 0.0


@dataclass(frozen=True)
class Count:
    """A counter of one worker since its start."""

    owner: str
    name: str
    label: str
    value: float


async def lengths(session: ReadSession) -> dict[str, Length]:
    """By device; devices with nothing waiting or running are left out."""
    rows = await session.all(statements("devices")["lengths"])
    return {row["device"]: Length(row["queued"], row["running"]) for row in rows}


async def load(session: ReadSession) -> dict[str, Load]:
    """As `lengths`, for metrics: it reads all waiting runs."""
    rows = await session.all(statements("devices")["load"])
    return {r["device"]: Load(r["queued"], r["running"], r["longest_wait_s"]) for r in rows}


async def reports(session: ReadSession, fresh_s: float) -> list[DeviceReport]:
    """Reports of workers with a heartbeat within `fresh_s`; available devices first."""
    rows = await session.all(statements("devices")["reports"], {"fresh_s": fresh_s})
    return [DeviceReport(**row) for row in rows]


async def workers(session: ReadSession, fresh_s: float) -> int:
    """How many workers sent a heartbeat within `fresh_s`."""
    row = await session.one(statements("devices")["workers"], {"fresh_s": fresh_s})
    return int(row["workers"]) if row else 0


async def counts(session: ReadSession) -> list[Count]:
    """What the workers have counted."""
    return [Count(**row) for row in await session.all(statements("devices")["counts"])]
