"""The settings that judging needs. Reading all settings takes longer than judging a small file, so
what came of them is kept in the private folder, under a name for everything they come from."""

import contextlib
import hashlib
import json
import os
import time
from pathlib import Path

from kernelbot.domain.errors import UserError
from kernelbot.harness.host.warm.folder import PrivateFolder
from kernelbot.protocol import (
    DeviceSpec,
    JobSpec,
    Limits,
    Mode,
    ProblemSpec,
    SamplingRules,
    SandboxMode,
    SourceFile,
    WireError,
    from_wire,
    to_wire,
)
from kernelbot.protocol.late import dataclass

_PREFIX = "settings-"
_MAX_AGE_S = 24 * 3600.0


@dataclass(frozen=True)
class JudgingSettings:
    """`devices` in the file's order; there is at least one."""

    devices: tuple[DeviceSpec, ...]
    limits: Limits
    sampling: SamplingRules

    def device(self, name: str | None) -> DeviceSpec:
        """The one of that name, in upper or lower case; None: the first. Raises `UserError` if
        there is none of that name."""
        if name is None:
            return self.devices[0]
        for device in self.devices:
            if device.name.casefold() == name.casefold():
                return device
        known = ", ".join(device.name for device in self.devices)
        raise UserError(f"There is no device {name!r} here.", hint=f"There is: {known}.")

    def job(
        self,
        problem: ProblemSpec,
        submission: SourceFile,
        mode: Mode,
        device: DeviceSpec,
        sandbox: SandboxMode = SandboxMode.REQUIRED,
    ) -> JobSpec:
        """A job with an id of its own, on the problem's own seeds."""
        return JobSpec(
            job_id=os.urandom(16).hex(),
            problem=problem,
            submission=submission,
            mode=mode,
            device=device,
            limits=self.limits,
            sampling=self.sampling,
            sandbox=sandbox,
        )


def read_judging_settings() -> JudgingSettings:
    """From the configuration. Raises `UserError`."""
    from kernelbot.server.settings import read_settings

    settings = read_settings()
    devices = tuple(device.spec for device in settings.device_configs())
    return JudgingSettings(devices, settings.limits, settings.sampling)


def cached_judging_settings(folder: PrivateFolder) -> JudgingSettings:
    """Read them as `read_judging_settings` does, quickly if nothing has changed since the last
    time."""
    name = _PREFIX + _origin()
    with contextlib.suppress(OSError, ValueError, WireError):
        return from_wire(JudgingSettings, json.loads(folder.at(name).read_bytes()))
    settings = read_judging_settings()
    with contextlib.suppress(OSError):  # a full disk, say: they are read again
        folder.write(name, json.dumps(to_wire(settings)).encode())
        _remove_old(folder)
    return settings


def _origin() -> str:
    """A hash of the files, variables and modules from which the settings come."""
    variables = sorted(
        (name, value) for name, value in os.environ.items() if name.upper().startswith("KERNELBOT_")
    )
    files = [os.environ.get("KERNELBOT_CONFIG") or "kernelbot.toml", ".env"]
    code = [_stamp(path) for path in sorted(Path(__file__).parent.rglob("*.py"))]
    parts = [variables, [_content(Path(file)) for file in files], code]
    return hashlib.sha256(repr(parts).encode()).hexdigest()


def _content(file: Path) -> bytes | str:
    try:
        return file.read_bytes() if file.is_file() else ""
    except OSError as error:
        return str(error)


def _stamp(path: Path) -> tuple[str, int, int]:
    found = path.stat()
    return (path.name, found.st_size, found.st_mtime_ns)


def _remove_old(folder: PrivateFolder) -> None:
    """Remove settings that were cached long ago."""
    for found in folder.names():
        if (
            found.startswith(_PREFIX)
            and folder.at(found).stat().st_mtime < time.time() - _MAX_AGE_S
        ):
            folder.remove(found)
