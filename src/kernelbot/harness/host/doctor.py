"""What is in force on this machine: tried out if that is possible, not looked up."""

import importlib.metadata
import platform
import shutil
import subprocess
import sys
from dataclasses import asdict
from typing import Any

from kernelbot.harness.host.gpu_trial import try_gpus
from kernelbot.harness.judge.profiling.counters import missing_counters
from kernelbot.harness.judge.profiling.tools import TOOLS
from kernelbot.harness.judge.system import cpu_model, os_name
from kernelbot.harness.sandbox import RunnerClient, Zygote, cgroups
from kernelbot.harness.timing.clocks import last_level_cache_bytes
from kernelbot.harness.words.sandbox import Flavour, SandboxUnavailable, ZygoteConfig
from kernelbot.protocol import Limits, SandboxMode, SandboxReport

_START_S = 30.0
_TOOLS = ("bwrap", "g++", "nvcc", "setpriv", "unshare")
_PACKAGES = ("numpy", "torch", "triton", "nvidia-cutlass-dsl")


def examine() -> dict[str, Any]:
    """One JSON document: interpreter, sandbox, tools, packages, caches."""
    profilers = (tool.program for tool in TOOLS.values())
    return {
        "cpu": cpu_model(),
        "os": os_name(),
        "python": {"version": platform.python_version(), "prefix": sys.prefix},
        "sandbox": _sandbox(),
        "judges": {
            "memory_limited": "memory" in cgroups.detect().parents,
            "unit_left_behind": cgroups.unit_left_behind(),
        },
        "gpus": asdict(try_gpus()),
        "tools": {name: _tool(name) for name in (*_TOOLS, *profilers)},
        "packages": {name: _package(name) for name in _PACKAGES},
        "last_level_cache_bytes": last_level_cache_bytes(),
        "missing_counters": missing_counters(),
    }


def _sandbox() -> dict[str, Any]:
    """Starts a zygote and a runner, for only that shows that it works."""
    try:
        zygote = Zygote.start(ZygoteConfig(Flavour.BARE, SandboxMode.REQUIRED))
    except SandboxUnavailable as error:
        return {"works": False, "reason": str(error)}
    try:
        zygote.wait_ready(_START_S)
        client = RunnerClient(zygote.connect())
        client.spawn(Limits()).kill()
        client.close()
        report: SandboxReport = zygote.report()
        return {"works": True, **asdict(report)}
    except SandboxUnavailable as error:
        return {"works": False, "reason": str(error)}
    finally:
        zygote.close()


def _tool(name: str) -> dict[str, Any]:
    path = shutil.which(name)
    if path is None:
        return {"found": False}
    try:
        finished = subprocess.run(
            [path, "--version"], capture_output=True, text=True, timeout=10, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return {"found": True, "path": path, "version": None}
    lines = (finished.stdout or finished.stderr).strip().splitlines()
    version = lines[-1 if name == "nvcc" else 0] if lines else None
    return {"found": True, "path": path, "version": version}


def _package(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None
