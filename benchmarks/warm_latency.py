"""From launch to result through the tests' stand-ins of Modal and Buildkite, with a host for each
job and with one that stays.

Run with `python -m benchmarks.warm_latency [--count N] [--problem DIR] [--mode MODE]`, as root. One
job at a time, in turn on each. What a real Modal or Buildkite needs to start a job isn't in it, and
neither is what Docker needs to start a container: only what the harness does.
"""

import argparse
import asyncio
import contextlib
import dataclasses
import secrets
import tempfile
import time
from collections.abc import AsyncIterator
from pathlib import Path

from tests.launchers.plans import DEVICE
from tests.launchers.warm_stages import WARM_STAGES

from benchmarks.figures import median_and_p95_ms
from benchmarks.latency import EXAMPLES
from kernelbot.catalog.problem import load_problem
from kernelbot.harness.archive import build
from kernelbot.launchers.base import Launcher
from kernelbot.launchers.results import read_result
from kernelbot.protocol import DeviceSpec, JobSpec, Mode, SourceFile, Vendor, Verdict
from kernelbot.render.table import table

IDLE_S = {"a host for each job": 0.0, "a host that stays": 600.0}
WARM_UP = 2
LONG_S = 3600.0


async def one(launcher: Launcher, job: JobSpec) -> float:
    """Launch and wait: seconds until the result is here."""
    began = time.perf_counter()
    handle = await launcher.launch(job)
    while True:
        outcome = (await launcher.poll([handle]))[handle]
        if outcome.state.is_over:
            break
        await asyncio.sleep(0.02)
    took_s = time.perf_counter() - began
    if outcome.left is None:
        raise RuntimeError(f"{job.job_id} was lost: {outcome.reason}")
    verdict = read_result(outcome.left, job, LONG_S).verdict
    if verdict is not Verdict.ACCEPTED:
        raise RuntimeError(f"{job.job_id} ended as {verdict}.")
    await launcher.forget(handle)
    return took_s


def job_of(problem_folder: Path, mode: Mode) -> JobSpec:
    """Of the first solution that is right, without an id of its own."""
    spec = load_problem(problem_folder).definition.spec
    file = min((problem_folder / "solutions" / "correct").iterdir())
    source = SourceFile(file.name, file.read_text())
    return JobSpec("1.1.0", spec, source, mode, DeviceSpec(DEVICE, Vendor.CPU))


@contextlib.asynccontextmanager
async def launchers(folder: Path) -> AsyncIterator[dict[tuple[str, str], Launcher]]:
    """By scheduler and kind of host."""
    harness = build(folder / "kernelbot-harness.pyz")
    async with contextlib.AsyncExitStack() as stack:
        found: dict[tuple[str, str], Launcher] = {}
        for scheduler, opens in WARM_STAGES.items():
            for number, (kind, idle_s) in enumerate(IDLE_S.items()):
                own = folder / f"{scheduler}{number}"
                own.mkdir()
                stage = await stack.enter_async_context(opens(own, harness, idle_s))
                found[scheduler, kind] = stage.launcher
        yield found


async def measure(folder: Path, job: JobSpec, count: int) -> dict[tuple[str, str], list[float]]:
    """Seconds by scheduler and kind of host."""
    async with launchers(folder) as found:
        times: dict[tuple[str, str], list[float]] = {key: [] for key in found}
        for number in range(WARM_UP + count):
            for key, launcher in found.items():
                own = dataclasses.replace(job, job_id=f"1.1.{secrets.token_hex(6)}")
                took_s = await one(launcher, own)
                if number >= WARM_UP:
                    times[key].append(took_s)
    return times


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--problem", type=Path, default=EXAMPLES / "identity_np")
    parser.add_argument("--mode", type=Mode, default=Mode.TEST)
    arguments = parser.parse_args()
    job = job_of(arguments.problem, arguments.mode)
    with tempfile.TemporaryDirectory() as folder:
        times = asyncio.run(measure(Path(folder), job, arguments.count))
    rows = [[scheduler, kind, *median_and_p95_ms(s)] for (scheduler, kind), s in times.items()]
    headers = ("scheduler", "from launch to result", "median ms", "95th percentile ms")
    print(f"{arguments.problem.name}, mode {arguments.mode}, {arguments.count} on each:\n")
    print(table(headers, rows, right=headers[2:]))


if __name__ == "__main__":
    main()
