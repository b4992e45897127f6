"""A script by itself on a device: no problem, no board, no ranking; its output is all there is."""

import asyncio
import secrets
import tempfile
from pathlib import Path

from kernelbot.domain.errors import DeviceNotOffered, SchedulerError, Unavailable
from kernelbot.domain.types import DeviceConfig
from kernelbot.main.settings import Settings, read_settings
from kernelbot.main.verify_runs import judged_by
from kernelbot.main.work import launchers
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
)
from kernelbot.worker.watching import Watcher

LIMIT_S = 120.0
_START_LIMIT_S = 60.0
_SLACK_S = 600.0
"""For a scheduler's queue."""
_EVAL = """\
import os, runpy, sys, traceback
good = True
try:
    runpy.run_path("script.py", run_name="__main__")
except SystemExit as ended:
    good = ended.code in (None, 0)
except BaseException:
    traceback.print_exc()
    good = False
sys.stdout.flush()
with os.fdopen(int(os.environ["POPCORN_FD"]), "w") as log:
    word = "pass" if good else "fail"
    print(f"test-count: 1\\ntest.0.spec: run: 1\\ntest.0.status: {word}\\ncheck: {word}", file=log)
sys.exit(0 if good else 112)
"""


def run_script(device: str | None, text: str) -> RunResult:
    """Run it in the sandbox, by the first launcher of the device that is available. Blocks.

    Raises `DeviceNotOffered`, `Unavailable`, `SchedulerError`.
    """
    settings = read_settings()
    configs = settings.device_configs()
    chosen = next((d for d in configs if device is None or _is(d, device)), None)
    if chosen is None:
        known = ", ".join(config.spec.name for config in configs)
        raise DeviceNotOffered(f"There is no device named {device!r}.", hint=f"There is: {known}.")
    with tempfile.TemporaryDirectory(prefix="kernelbot-script-") as folder:
        only = tuple(one for one in settings.devices if one.config() == chosen)
        own = settings.model_copy(update={"data": Path(folder), "devices": only, "warm": ()})
        return asyncio.run(_run(own, chosen, _job(own, chosen, text)))


def _is(device: DeviceConfig, name: str) -> bool:
    return device.spec.name.lower() == name.lower()


def _job(settings: Settings, device: DeviceConfig, text: str) -> JobSpec:
    problem = ProblemSpec(
        name="script",
        lang=Lang.PY,
        harness=HarnessKind.SCRIPT,
        harness_reason="It is a script by itself.",
        files=(SourceFile("eval.py", _EVAL),),
        submission_name="script.py",
        config=BuildConfig(main="eval.py"),
        tests=(Case({"run": 1}),),
        benchmarks=(),
        timeouts=Timeouts(test_s=LIMIT_S),
    )
    return JobSpec(
        job_id=f"script-{secrets.token_hex(6)}",
        problem=problem,
        submission=SourceFile("script.py", text),
        mode=Mode.TEST,
        device=device.spec,
        limits=settings.limits,
        sampling=settings.sampling,
        sandbox=settings.sandbox,
    )


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
                async with asyncio.timeout(LIMIT_S + _SLACK_S):
                    outcome = await judged_by(launcher, watcher, job)
            except TimeoutError:
                raise SchedulerError(f"{name} gave no result in time.") from None
            finally:
                watching.cancel()
                await asyncio.gather(watching, return_exceptions=True)
            if outcome is None or outcome.result is None:
                raise SchedulerError(
                    outcome.reason if outcome else "Nobody told what became of it."
                )
            return outcome.result
    finally:
        for launcher in by_name.values():
            await launcher.close()
    raise Unavailable(f"{device.spec.name} can't be reached just now: {'; '.join(notes)}")
