"""Devices and how busy they are."""

import builtins
from dataclasses import dataclass

from kernelbot.domain.types import DeviceConfig, DeviceReport, DeviceStatus
from kernelbot.store import devices
from kernelbot.store.database import Database
from kernelbot.store.devices import Count, Load

FRESH_S = 30.0
"""A worker not heard of for longer is taken for gone."""


@dataclass(frozen=True)
class Busyness:
    """What metrics are made of."""

    load: dict[str, Load]
    counts: builtins.list[Count]


class Devices:
    """Configured devices, joined with what the workers last said of them."""

    def __init__(self, database: Database, configured: tuple[DeviceConfig, ...]) -> None:
        self._database = database
        self._configured = configured

    async def list(self) -> builtins.list[DeviceStatus]:
        """Every configured device in the configuration's order."""
        async with self._database.read() as session:
            load = await devices.load(session)
            reports = await devices.reports(session, FRESH_S)
        return [self._status(device, load, reports) for device in self._configured]

    async def busyness(self) -> Busyness:
        """Queues by device, and what the workers have counted since they started."""
        async with self._database.read() as session:
            load = await devices.load(session)
            counts = await devices.counts(session)
        idle = Load(0, 0, 0.0)
        names = [device.spec.name for device in self._configured]
        return Busyness({name: load.get(name, idle) for name in names}, counts)

    def _status(
        self,
        device: DeviceConfig,
        load: dict[str, Load],
        reports: builtins.list[DeviceReport],
    ) -> DeviceStatus:
        name = device.spec.name
        report = next(
            (report for report in reports if report.device == name),
            DeviceReport(name, False, "no worker serves it just now"),
        )
        busy = load.get(name, Load(0, 0, 0.0))
        return DeviceStatus(
            name=name,
            vendor=device.spec.vendor,
            launcher=device.launcher,
            queued=busy.queued,
            running=busy.running,
            available=report.available,
            note="" if report.available else report.note,
        )
