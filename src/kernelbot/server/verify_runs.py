"""`kernelbot verify-runs`: an example through every device and launcher of the configuration."""

import asyncio
import secrets
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from kernelbot.catalog.problem import load_problem
from kernelbot.domain.errors import DeviceNotOffered, KernelbotError, SchedulerError
from kernelbot.launchers.base import Launcher
from kernelbot.launchers.results import NoResult
from kernelbot.protocol import JobSpec, Mode, RunResult, SourceFile, Vendor, Verdict
from kernelbot.protocol.result_size import most_bytes
from kernelbot.runs.devices.model import DeviceConfig
from kernelbot.server.settings import LOCAL, Settings, read_settings
from kernelbot.server.small_job import small_job
from kernelbot.server.work import launchers
from kernelbot.worker.reading import ResultReader
from kernelbot.worker.watching import Watcher

_EXAMPLES = {Vendor.CPU: "identity_np"}
_GPU_EXAMPLE = "vectoradd_py"
_START_LIMIT_S = 60.0


@dataclass(frozen=True)
class VerifiedDevice:
    """How one device did by one launcher; `note` is why not, or where it ran."""

    device: str
    launcher: str
    ok: bool
    note: str
    duration_s: float

    @property
    def line(self) -> str:
        """For people."""
        sign = "✓" if self.ok else "✗"
        return f"{sign} {self.device} by {self.launcher}: {self.note} ({self.duration_s:.1f} s)"


def verify_runs(
    device: str | None, limit_s: float, on_each: Callable[[VerifiedDevice], None]
) -> list[VerifiedDevice]:
    """Send the example everywhere at once, and tell of each as it comes back. No server takes
    part, and local devices get harnesses of their own for it. Raises `DeviceNotOffered`."""
    settings = read_settings()
    configs = settings.device_configs()
    chosen = [one for one in configs if device is None or one.spec.name.lower() == device.lower()]
    if not chosen:
        raise DeviceNotOffered(
            f"There is no device named {device!r} in the configuration.",
            hint=f"Devices: {', '.join(one.spec.name for one in configs)}.",
        )
    with tempfile.TemporaryDirectory(prefix="kernelbot-verify-") as folder:
        own = narrowed(settings, chosen, Path(folder))
        return asyncio.run(_verify(own, chosen, limit_s, on_each))


def narrowed(settings: Settings, chosen: Sequence[DeviceConfig], folder: Path) -> Settings:
    """The settings for launchers of the chosen devices alone, with their data in the folder. Other
    devices stay where a scheduler's table may name them; this machine gets no harness for them."""
    by_name = {one.spec.name: one.launchers for one in chosen}
    remote = {name for names in by_name.values() for name in names} - {LOCAL}
    devices = []
    for device in settings.devices:
        names = by_name.get(device.name) or tuple(n for n in device.launcher if n in remote)
        if names:
            devices.append(device.model_copy(update={"launcher": names}))
    return settings.model_copy(update={"data": folder, "devices": tuple(devices)})


def to_document(found: list[VerifiedDevice]) -> dict[str, Any]:
    """For programs."""
    return {"ok": all(one.ok for one in found), "runs": [asdict(one) for one in found]}


async def _verify(
    settings: Settings,
    chosen: Sequence[DeviceConfig],
    limit_s: float,
    on_each: Callable[[VerifiedDevice], None],
) -> list[VerifiedDevice]:
    by_name = launchers(settings)
    watchers = {name: Watcher(name, launcher) for name, launcher in by_name.items()}
    watching = [asyncio.create_task(watcher.run()) for watcher in watchers.values()]
    starting = {name: _started(launcher) for name, launcher in by_name.items()}
    try:
        pairs = [(d, name) for d in chosen for name in d.launchers]
        runs = [
            _one(settings, d, name, by_name[name], watchers[name], starting[name], limit_s)
            for d, name in pairs
        ]
        found = []
        for run in asyncio.as_completed(runs):
            found.append(await run)
            on_each(found[-1])
        return found
    finally:
        for task in (*watching, *starting.values()):
            task.cancel()
        await asyncio.gather(*watching, *starting.values(), return_exceptions=True)
        for launcher in by_name.values():
            await launcher.close()


def _started(launcher: Launcher) -> asyncio.Task[None]:
    async def start() -> None:
        async with asyncio.timeout(_START_LIMIT_S):
            await launcher.start()

    return asyncio.create_task(start())


async def _one(
    settings: Settings,
    device: DeviceConfig,
    name: str,
    launcher: Launcher,
    watcher: Watcher,
    starting: asyncio.Task[None],
    limit_s: float,
) -> VerifiedDevice:
    began = time.monotonic()
    try:
        async with asyncio.timeout(limit_s):
            await asyncio.shield(starting)
            found = await launcher.availability(device.spec.name)
            ok, note = found.available, found.note
            if ok:
                job = _example(settings, device)
                ok, note = _verdict_of(job, await judged_by(launcher, watcher, job))
    except TimeoutError:
        ok, note = False, f"there was no result within {limit_s:.0f} s"
    except (KernelbotError, OSError) as error:
        ok, note = False, str(error)
    return VerifiedDevice(device.spec.name, name, ok, note, time.monotonic() - began)


async def judged_by(launcher: Launcher, watcher: Watcher, job: JobSpec) -> RunResult:
    """The job's result by this launcher, whose watcher runs. Nothing is left of it. Raises
    `SchedulerError` if there is none."""
    began = time.monotonic()
    reader = ResultReader()
    handle = await launcher.launch(job)
    try:
        async for outcome in watcher.changes(handle, most_bytes(job), longest_s=job.longest_s):
            if outcome.left is not None:
                return await reader.read(outcome.left, job, time.monotonic() - began)
            if outcome.state.is_over:
                raise SchedulerError(outcome.reason)
        raise SchedulerError("nobody told what became of it")
    except NoResult as error:
        raise SchedulerError(str(error)) from None
    finally:
        await reader.close()
        await launcher.cancel(handle)
        await launcher.forget(handle)


def _verdict_of(job: JobSpec, result: RunResult) -> tuple[bool, str]:
    """Whether it was accepted, and where it ran or why not."""
    if result.verdict is not Verdict.ACCEPTED:
        why = f": {result.failure.message}" if result.failure else ""
        return False, f"{job.problem.name} ended as {result.verdict}{why}"
    return True, f"{job.problem.name} was accepted on {result.system.cpu}"


def _example(settings: Settings, device: DeviceConfig) -> JobSpec:
    """The example among the problem folders, and without them a small one."""
    job_id = f"verify-{secrets.token_hex(6)}"
    name = _EXAMPLES.get(device.spec.vendor, _GPU_EXAMPLE)
    folder = settings.problem_dev_dir / name
    if not (folder / "task.yml").is_file():
        return small_job(job_id, device.spec, settings.sandbox)
    spec = load_problem(folder).definition.spec
    solution = min((folder / "solutions" / "correct").iterdir())
    text = solution.read_text(encoding="utf-8")
    return JobSpec(
        job_id=job_id,
        problem=spec,
        submission=SourceFile(spec.submission_name, text),
        mode=Mode.TEST,
        device=device.spec,
        limits=settings.limits,
        sampling=settings.sampling,
        sandbox=settings.sandbox,
    )
