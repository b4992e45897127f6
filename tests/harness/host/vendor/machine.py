"""A machine with GPUs, as far as files and programs make one."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.support.devices import with_devices

NVIDIA_SMI = """#!/bin/sh
echo "nvidia-smi $*" >> "{log}"
case "$*" in
    *compute_mode*) echo "NVIDIA H200, 580.1, 143771 MiB, {mode}, Enabled, Disabled" ;;
    *clocks.max.sm*) echo 1980 ;;
    *--lock-gpu-clocks*) {lock} ;;
esac
"""


def put_nvidia_smi(folder: Path, *, mode: str = "Default", lock: str = "true") -> Path:
    """In `folder`; the file in which it writes down its calls."""
    log, program = folder / "calls", folder / "nvidia-smi"
    program.write_text(NVIDIA_SMI.format(log=log, mode=mode, lock=lock))
    program.chmod(0o755)
    return log


def vendor_check(
    *options: str, devices: tuple[str, ...] = (), **environment: str
) -> tuple[int, dict[str, Any]]:
    """Exit code and report of the harness where /dev has `devices` as well. Needs root."""
    harness = [sys.executable, "-P", "-m", "kernelbot.harness", "vendor-check", *options]
    done = subprocess.run(
        with_devices(harness, devices),
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
        env={**os.environ, **environment},
    )
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)


def notes(report: dict[str, Any]) -> dict[str, tuple[bool | None, str]]:
    """What was found of each part, and what was said of it."""
    return {finding["name"]: (finding["ok"], finding["note"]) for finding in report["findings"]}
