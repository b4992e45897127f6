"""Which devices can take jobs just now, by asking each launcher in a task of its own."""

import asyncio
from collections.abc import Callable

import structlog

from kernelbot.launchers.base import Availability, Launcher
from kernelbot.runs.devices.model import DeviceConfig, DeviceReport, LauncherHealth
from kernelbot.worker.brakes import Brake
from kernelbot.worker.crashes import Crashes
from kernelbot.worker.retries import set_or_after

_CHECK_LIMIT_S = 10.0
_START_LIMIT_S = 30.0
_FIRST_S = 1.0
_STARTING = ""
_UNKNOWN = Availability(False, "it wasn't asked yet")
log = structlog.get_logger()


class Checks:
    """What each launcher last said of each of its devices, and what became of their runs. A
    launcher that hangs or fails is unavailable, with the reason, and holds up nobody else."""

    def __init__(
        self,
        launchers: dict[str, Launcher],
        devices: tuple[DeviceConfig, ...],
        crashing: Callable[[str], str] = lambda _: "",
    ) -> None:
        """`crashing`: why a launcher can't say what becomes of its jobs; empty: it can."""
        self._launchers = launchers
        self._crashing = crashing
        self._devices = devices
        self._crashes = {
            (name, about): Crashes(name, log)
            for name in launchers
            for about in (_STARTING, *self._names(name))
        }
        self._found: dict[tuple[str, str], Availability] = {}
        self.changed = asyncio.Event()
        """Set when any device has become available or unavailable."""
        self._brakes = {
            (name, device): self._make_brake(name, device)
            for name in launchers
            for device in self._names(name)
        }
        self._known = asyncio.Event()

    def _make_brake(self, name: str, device: str) -> Brake:
        one_machine = not self._launchers[name].traits.remote
        told = log.bind(launcher=name, device=device)
        return Brake(told, self.changed.set, one_machine=one_machine)

    def brake(self, launcher: str, device: str) -> Brake:
        """What holds the device's runs back if this launcher only loses them."""
        return self._brakes[launcher, device]

    async def run(self, name: str) -> None:
        """Start the launcher and ask it again and again. Never ends by itself."""
        launcher = self._launchers[name]
        started = False
        while True:
            if not started:
                started = await self._start(name, launcher)
            if started:
                await asyncio.gather(*(self._check(name, d) for d in self._names(name)))
            await asyncio.sleep(launcher.traits.check_s)

    async def first(self) -> None:
        """Return once every launcher has answered, or with those that are quick."""
        await set_or_after(self._known, _FIRST_S)

    def available(self, device: DeviceConfig) -> tuple[str, ...]:
        """The launchers that can take a job of the device just now, the preferred first."""
        name = device.spec.name
        return tuple(
            launcher
            for launcher in device.launchers
            if self._last(launcher, name).available
            and self._brakes[launcher, name].is_open
            and not self._crashing(launcher)
        )

    def reports(self) -> list[DeviceReport]:
        """For the heartbeat."""
        return [self._report(device) for device in self._devices]

    def _report(self, device: DeviceConfig) -> DeviceReport:
        name = device.spec.name
        each = tuple(
            LauncherHealth(launcher, found.available, found.note)
            for launcher in device.launchers
            if launcher in self._launchers
            for found in (self._known_of(launcher, name),)
        )
        available = any(one.available for one in each)
        note = "" if available else "; ".join(_note_of(one, len(each)) for one in each)
        return DeviceReport(name, available, note, each)

    def _known_of(self, launcher: str, device: str) -> Availability:
        found = self._last(launcher, device)
        why = self._crashing(launcher) or self._brakes[launcher, device].why_not
        return Availability(False, why) if found.available and why else found

    def _last(self, launcher: str, device: str) -> Availability:
        return self._found.get((launcher, device), _UNKNOWN)

    def _names(self, launcher: str) -> list[str]:
        return [d.spec.name for d in self._devices if launcher in d.launchers]

    async def _start(self, name: str, launcher: Launcher) -> bool:
        """Whether it started."""
        try:
            async with asyncio.timeout(_START_LIMIT_S):
                await launcher.start()
        except Exception as error:  # noqa: BLE001 (told; it ends no other launcher's checks)
            why = self._why(name, _STARTING, error, _START_LIMIT_S)
            for device in self._names(name):
                self._store(name, device, Availability(False, why))
            return False
        return True

    async def _check(self, name: str, device: str) -> None:
        try:
            async with asyncio.timeout(_CHECK_LIMIT_S):
                found = await self._launchers[name].availability(device)
        except Exception as error:  # noqa: BLE001 (the same)
            found = Availability(False, self._why(name, device, error, _CHECK_LIMIT_S))
        else:
            self._crashes[name, device].end()
        self._store(name, device, found)

    def _why(self, launcher: str, about: str, error: Exception, limit_s: float) -> str:
        """`about`: the device that it was asked about, or its start."""
        if isinstance(error, TimeoutError):
            return f"it didn't answer within {limit_s:.0f} s"
        return self._crashes[launcher, about].tell(error)

    def _store(self, name: str, device: str, found: Availability) -> None:
        before = self._found.get((name, device))
        self._found[name, device] = found
        if before is None or before.available != found.available:
            log.info(
                "device_checked",
                launcher=name,
                device=device,
                available=found.available,
                note=found.note,
            )
            self.changed.set()
        if all((n, d.spec.name) in self._found for d in self._devices for n in d.launchers):
            self._known.set()


def _note_of(one: LauncherHealth, of: int) -> str:
    """The launcher is named where there are several to confuse."""
    return one.note if of == 1 else f"{one.launcher}: {one.note}"
