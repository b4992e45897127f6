"""How busy devices are, and the workers' last reports on them."""

from kernelbot.protocol import SystemInfo
from kernelbot.runs.devices.model import (
    DeviceReport,
    LauncherHealth,
    QueueLength,
    QueueLoad,
    WorkerCount,
)
from kernelbot.store.database import ReadSession
from kernelbot.store.sqlfiles import statements


async def lengths(session: ReadSession) -> dict[str, QueueLength]:
    """By device; devices with nothing waiting or running are left out."""
    rows = await session.all(statements(__file__)["lengths"])
    return {row["device"]: QueueLength(row["queued"], row["running"]) for row in rows}


async def load(session: ReadSession) -> dict[str, QueueLoad]:
    """What `lengths` counts and more, for metrics: it reads all waiting runs."""
    rows = await session.all(statements(__file__)["load"])
    return {r["device"]: QueueLoad(r["queued"], r["running"], r["longest_wait_s"]) for r in rows}


async def reports(session: ReadSession, fresh_s: float) -> list[DeviceReport]:
    """Reports of workers with a heartbeat within `fresh_s`; available devices first."""
    rows = await session.all(statements(__file__)["reports"], {"fresh_s": fresh_s})
    return [
        DeviceReport(**{**row, "launchers": tuple(LauncherHealth(**h) for h in row["launchers"])})
        for row in rows
    ]


async def systems(session: ReadSession, devices: list[str]) -> dict[str, SystemInfo]:
    """By device what its last result says of the machine; devices without any are left out."""
    rows = await session.all(statements(__file__)["systems"], {"devices": devices})
    return {
        row["device"]: SystemInfo(**{**row["system"], "notes": tuple(row["system"]["notes"])})
        for row in rows
    }


async def workers(session: ReadSession, fresh_s: float) -> int:
    """How many workers sent a heartbeat within `fresh_s`."""
    row = await session.one(statements(__file__)["workers"], {"fresh_s": fresh_s})
    return int(row["workers"]) if row else 0


async def owners(session: ReadSession, fresh_s: float) -> list[str]:
    """The workers that sent a heartbeat within `fresh_s`."""
    rows = await session.all(statements(__file__)["owners"], {"fresh_s": fresh_s})
    return [row["owner"] for row in rows]


async def counts(session: ReadSession) -> list[WorkerCount]:
    return [WorkerCount(**row) for row in await session.all(statements(__file__)["counts"])]
