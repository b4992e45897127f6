"""Devices and how busy they are."""

from dataclasses import dataclass

from kernelbot.domain.queue import QueueLength, QueueLoad, WorkerCount
from kernelbot.domain.types import DeviceConfig, DeviceReport, DeviceStatus
from kernelbot.store import devices
from kernelbot.store.database import Database

FRESH_S = 30.0
"""A worker without a heartbeat for longer counts as dead."""


@dataclass(frozen=True)
class Busyness:
    """What the metrics show."""

    load: dict[str, QueueLoad]
    counts: list[WorkerCount]


class Devices:
    """Configured devices, joined with the workers' last reports on them."""

    def __init__(self, database: Database, configured: tuple[DeviceConfig, ...]) -> None:
        self._database = database
        self._configured = configured

    async def list_devices(self) -> list[DeviceStatus]:
        """Every configured device in the configuration's order."""
        async with self._database.read() as session:
            lengths = await devices.lengths(session)
            reports = await devices.reports(session, FRESH_S)
        return [self._status(device, lengths, reports) for device in self._configured]

    async def busyness(self) -> Busyness:
        """Queues by device, and what the workers have counted since they started."""
        async with self._database.read() as session:
            load = await devices.load(session)
            counts = await devices.counts(session)
        idle = QueueLoad()
        names = [device.spec.name for device in self._configured]
        return Busyness({name: load.get(name, idle) for name in names}, counts)

    def _status(
        self,
        device: DeviceConfig,
        lengths: dict[str, QueueLength],
        reports: list[DeviceReport],
    ) -> DeviceStatus:
        name = device.spec.name
        report = next(
            (report for report in reports if report.device == name),
            DeviceReport(name, False, "no worker serves it just now"),
        )
        length = lengths.get(name, QueueLength())
        return DeviceStatus(
            name=name,
            vendor=device.spec.vendor,
            launcher=device.launcher,
            queued=length.queued,
            running=length.running,
            available=report.available,
            note="" if report.available else report.note,
        )
