"""A script by itself on a device: no problem, no board, no ranking; its output is all there is."""

import asyncio
import secrets
import tempfile
from dataclasses import replace
from pathlib import Path

from kernelbot.domain.errors import DeviceNotOffered, SchedulerError, Unavailable
from kernelbot.harness.gpu.lock import WAIT_S
from kernelbot.protocol import (
    BuildConfig,
    Case,
    HarnessKind,
    JobSpec,
    Lang,
    Mode,
    ProblemSpec,
    RunResult,
    SourceFile,
    Timeouts,
    Vendor,
)
from kernelbot.runs.devices.model import DeviceConfig
from kernelbot.server.settings import LOCAL, Settings, read_settings
from kernelbot.server.verify_runs import judged_by, narrowed
from kernelbot.server.work import launchers
from kernelbot.worker.watching import Watcher

LIMIT_S = WAIT_S - 15.0
"""For compiling and running it: a ranked run that waits for the same GPU meanwhile must not give up
before the script has been tidied up, too."""
DEFAULT_DEVICE = "T4"
_START_LIMIT_S = 60.0
_SLACK_S = 600.0
"""For a scheduler's queue."""
_PYTHON = """\
import os, runpy, sys, traceback
def run():
    try:
        runpy.run_path("script.py", run_name="__main__")
    except SystemExit as ended:
        return ended.code in (None, 0)
    except BaseException:
        traceback.print_exc()
        return False
    return True
"""
_CUDA = """\
import os, shutil, subprocess, sys
def run():
    if shutil.which("nvcc") is None:
        print("nvcc is not installed on this device.", file=sys.stderr)
        return False
    command = ["nvcc", "-std=c++20", "-O3", *{flags}, "script.cu", "-o", "program"]
    if subprocess.run(command).returncode:
        return False
    code = subprocess.run(["./program"]).returncode
    if code:
        how = f"was ended by signal {{-code}}" if code < 0 else f"ended with exit code {{code}}"
        print(f"It {{how}}.", file=sys.stderr)
    return code == 0
"""
_REPORT = """\
good = run()
sys.stdout.flush()
with os.fdopen(int(os.environ["POPCORN_FD"]), "w") as log:
    word = "pass" if good else "fail"
    print(f"test-count: 1\\ntest.0.spec: run: 1\\ntest.0.status: {word}\\ncheck: {word}", file=log)
sys.exit(0 if good else 112)
"""


async def run_script(script: SourceFile, device: str | None, kind: str | None) -> RunResult:
    """Run it in the sandbox, by the first launcher of the device that is available.

    The script is Python, or CUDA with a `main` of its own if its name ends in `.cu`. `device`,
    `kind`: as for `script_device`. Raises `DeviceNotOffered`, `Unavailable`, `SchedulerError`.
    """
    settings = await asyncio.to_thread(read_settings)
    chosen = chosen_device(settings, device, kind)
    with tempfile.TemporaryDirectory(prefix="kernelbot-script-") as folder:
        own = narrowed(settings, [chosen], Path(folder)).model_copy(update={"warm": ()})
        return await _run(own, chosen, script_job(own, chosen, script))


def script_device(device: str | None, kind: str | None) -> str:
    """The name of the device on which a script would run: `device` is its name or its vendor's;
    None: `DEFAULT_DEVICE` if there is one, else the first. `kind`: of which kind a launcher of it
    must be; None: any. Raises `DeviceNotOffered`."""
    return chosen_device(read_settings(), device, kind).spec.name


def devices_reached(kind: str) -> list[str]:
    """The names of the devices that launchers of a kind reach, in the configuration's order."""
    return [device.spec.name for device in _reached(read_settings(), kind)]


def _reached(settings: Settings, kind: str | None) -> list[DeviceConfig]:
    """Devices with those of their launchers that are of the kind; None: all of them."""
    kinds = {LOCAL: LOCAL} | {name: table.kind for name, table in settings.launchers.items()}
    found = []
    for device in settings.device_configs():
        names = tuple(name for name in device.launchers if kind in (None, kinds[name]))
        if names:
            found.append(replace(device, launchers=names))
    return found


def chosen_device(settings: Settings, device: str | None, kind: str | None) -> DeviceConfig:
    """The device as `run_script` finds it, with the launchers that may be used. Raises
    `DeviceNotOffered`."""
    reached = _reached(settings, kind)
    if not reached:
        raise DeviceNotOffered(
            f"No device here is reached by {kind}.",
            hint="The operator names launchers and devices in kernelbot.toml.",
        )
    wanted = (device or DEFAULT_DEVICE).lower()
    for one in reached:
        if one.spec.name.lower() == wanted:
            return one
    for one in reached:
        if one.spec.vendor.value.lower() == wanted:
            return one
    if device is None:
        return reached[0]
    known = ", ".join(one.spec.name for one in reached)
    by = f" by {kind}" if kind else ""
    raise DeviceNotOffered(f"There is no device named {device!r}{by}.", hint=f"There is: {known}.")


def script_job(settings: Settings, device: DeviceConfig, script: SourceFile) -> JobSpec:
    compiled = script.name.lower().endswith(".cu")
    name = "script.cu" if compiled else "script.py"
    body = _CUDA.format(flags=_flags(device)) if compiled else _PYTHON
    problem = ProblemSpec(
        name="script",
        lang=Lang.PY,
        harness=HarnessKind.SCRIPT,
        harness_reason="It is a script by itself.",
        files=(SourceFile("eval.py", body + _REPORT),),
        submission_name=name,
        config=BuildConfig(main="eval.py"),
        tests=(Case({"run": 1}),),
        benchmarks=(),
        timeouts=Timeouts(test_s=LIMIT_S),
    )
    return JobSpec(
        job_id=f"script-{secrets.token_hex(6)}",
        problem=problem,
        submission=SourceFile(name, script.text),
        mode=Mode.TEST,
        device=device.spec,
        limits=settings.limits,
        sampling=settings.sampling,
        sandbox=settings.sandbox,
    )


def _flags(device: DeviceConfig) -> list[str]:
    arch = device.spec.arch
    if device.spec.vendor is not Vendor.NVIDIA or arch is None:
        return []
    return [f"-gencode=arch=compute_{arch},code=sm_{arch}"]


async def _run(settings: Settings, device: DeviceConfig, job: JobSpec) -> RunResult:
    by_name = launchers(settings)
    notes = []
    try:
        for name in device.launchers:
            launcher = by_name[name]
            watcher = Watcher(name, launcher)
            watching = asyncio.create_task(watcher.run())
            try:
                async with asyncio.timeout(_START_LIMIT_S):
                    await launcher.start()
                    found = await launcher.availability(device.spec.name)
                if not found.available:
                    notes.append(f"{name}: {found.note}")
                    continue
                async with asyncio.timeout(job.problem.timeouts.test_s + _SLACK_S):
                    return await judged_by(launcher, watcher, job)
            except TimeoutError:
                raise SchedulerError(f"{name} gave no result in time.") from None
            finally:
                watching.cancel()
                await asyncio.gather(watching, return_exceptions=True)
    finally:
        for launcher in by_name.values():
            await launcher.close()
    raise Unavailable(f"{device.spec.name} can't be reached just now: {'; '.join(notes)}")
