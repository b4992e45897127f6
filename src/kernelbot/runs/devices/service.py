"""Devices and how busy they are."""

from dataclasses import dataclass

from kernelbot.protocol import DeviceSpec, SystemInfo, Vendor
from kernelbot.runs.devices import store as devices
from kernelbot.runs.devices.model import (
    DeviceConfig,
    DeviceReport,
    DeviceStatus,
    LauncherHealth,
    QueueLength,
    QueueLoad,
    WorkerCount,
)
from kernelbot.store.database import Database, ReadSession

FRESH_S = 30.0
"""A worker without a heartbeat for longer counts as dead."""
NOBODY = "no worker serves it just now"


@dataclass(frozen=True)
class Busyness:
    load: dict[str, QueueLoad]
    counts: list[WorkerCount]
    workers: list[str]
    """The owners that are alive."""
    available: dict[str, bool]
    """By device, whether a worker can use it."""
    launchers: list[str]


class Devices:
    """Configured devices, joined with the workers' last reports on them."""

    def __init__(self, database: Database, configured: tuple[DeviceConfig, ...]) -> None:
        self._database = database
        self._configured = configured

    async def list_devices(self, *, with_hardware: bool = False) -> list[DeviceStatus]:
        """Every configured device in the configuration's order. `with_hardware`: and what its last
        result saw, for which a result is read."""
        async with self._database.read() as session:
            lengths = await devices.lengths(session)
            reports = await devices.reports(session, FRESH_S)
            names = [device.spec.name for device in self._configured]
            systems = await devices.systems(session, names) if with_hardware else {}
        return [
            _status(
                device,
                _report(device, reports),
                lengths.get(device.spec.name, QueueLength()),
                systems.get(device.spec.name),
            )
            for device in self._configured
        ]

    def spec(self, name: str) -> DeviceSpec | None:
        """A configured device as the harness knows it; None if it isn't configured any more."""
        found = (device.spec for device in self._configured if device.spec.name == name)
        return next(found, None)

    async def busyness(self) -> Busyness:
        """Queues by device, who works, and what the workers have counted since they started."""
        async with self._database.read() as session:
            load = await devices.load(session)
            counts = await devices.counts(session)
            owners = await devices.owners(session, FRESH_S)
            reports = await devices.reports(session, FRESH_S)
        idle = QueueLoad()
        names = [device.spec.name for device in self._configured]
        return Busyness(
            {name: load.get(name, idle) for name in names},
            counts,
            owners,
            {device.spec.name: _report(device, reports).available for device in self._configured},
            sorted({name for device in self._configured for name in device.launchers}),
        )


async def why_unavailable(session: ReadSession, device: str) -> str:
    """What the workers say of a device that none of them can use; empty if one can."""
    for report in await devices.reports(session, FRESH_S):  # those that can come first
        if report.device == device:
            return "" if report.available else report.note
    return NOBODY


def _report(device: DeviceConfig, reports: list[DeviceReport]) -> DeviceReport:
    """The report on the device of the worker that can do most with it."""
    name = device.spec.name
    found = next((report for report in reports if report.device == name), None)
    if found is not None:
        return found
    launchers = tuple(LauncherHealth(each, False, NOBODY) for each in device.launchers)
    return DeviceReport(name, False, NOBODY, launchers)


def _status(
    device: DeviceConfig, report: DeviceReport, length: QueueLength, system: SystemInfo | None
) -> DeviceStatus:
    usable = (each.launcher for each in report.launchers if each.available)
    return DeviceStatus(
        name=device.spec.name,
        vendor=device.spec.vendor,
        launcher=next(usable, device.launchers[0]),
        launchers=report.launchers,
        gpus=device.gpus if device.spec.vendor is not Vendor.CPU else 0,
        memory_bytes=device.memory_bytes,
        queued=length.queued,
        running=length.running,
        available=report.available,
        note="" if report.available else report.note,
        hardware=None if system is None else _hardware(system),
    )


def _hardware(system: SystemInfo) -> str:
    torch = f", torch {system.torch}" if system.torch else ""
    return f"{system.cpu}; {system.os}; Python {system.python}{torch}"
