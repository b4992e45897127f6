"""For how long a submission holds its GPU, and for what.

At the stand-in for NVIDIA's driver: `python -m benchmarks.gpu_seconds`. Compilers, processes and
checks are real, the GPU is not. A submission is judged as a ranked one is: its tests in public,
then its tests and timed calls on secret data; `--heavy` is how much there is to compile.

The second table is of nodes of a scheduler, which has allocated the GPU before the harness starts:
for how long, if the node compiles, and if a build step without a GPU has done that before.

The third one is of whole ranked submissions, public and secret run together, on such nodes: as two
jobs that compile, as two with a build step, as one job that goes on with the secret run, and on a
node that has judged another submission before. Its last column is how many times as many
submissions a GPU judges in an hour in the last two ways as in the first.
"""

import argparse
import os
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path

from tests.support.cuda_driver import build_driver
from tests.support.device_problems import (
    DOUBLE,
    SCALE,
    compiled_problem,
    device_job,
    device_problem,
)
from tests.support.triton_problems import TRITON, triton_problem

from kernelbot.harness.gpu.lock import GpuLocks
from kernelbot.harness.host.follow_up import judge_both
from kernelbot.harness.host.host import Host
from kernelbot.protocol import JobSpec, Mode, ProblemSpec, ProgressEvent, RunResult, Verdict
from kernelbot.protocol.building import build_job
from kernelbot.protocol.job import FollowUp
from kernelbot.render.table import table

_HEAVY = '#include <regex>\n#include <iostream>\nstatic std::regex each{NUMBER}("x");\n'
_EXTENSION = """
import subprocess
from pathlib import Path
# As load_inline: what a first import leaves in the home, the next one finds.
built = Path.home() / ".cache/torch_extensions/mine.so"
if not built.exists():
    built.parent.mkdir(parents=True)
    built.with_suffix(".cpp").write_text(SOURCE)
    command = ["g++", "-O3", "-shared", "-fPIC", built.with_suffix(".cpp"), "-o", built]
    subprocess.run(command, check=True)
"""
_TUNED = """@triton.autotune(
    [triton.Config({"BLOCK": 2**size}, num_warps=4) for size in range(6, CONFIGURATIONS + 6)],
    key=["size"],
)
@triton.jit"""
"""As submissions in Triton usually choose the size of their blocks."""
_BUILT = ("compiled", "builds at import (load_inline)", "Triton")
_OF_SUBMISSIONS = (
    "submission", "two jobs (s)", "with the build step", "one job", "warm node", "times as many",
)  # fmt: skip
_PARTS = ("gpu_ready", "spawn", "generate", "check", "kernel")


def main() -> int:
    """The command; 0 unless a run wasn't accepted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--heavy", type=int, default=4, help="how much there is to compile")
    arguments = parser.parse_args()
    heavy = "".join(_HEAVY.replace("{NUMBER}", str(number)) for number in range(arguments.heavy))
    extension = _EXTENSION.replace("SOURCE", repr(heavy)) + SCALE
    kinds = {
        "compiled": (heavy + DOUBLE, compiled_problem()),
        "builds at import (load_inline)": (extension, device_problem()),
        "plain Python": (SCALE, device_problem()),
        "Triton": (_tuned(arguments.heavy), triton_problem()),
        "Triton, compiled on the GPU": (
            f"{_tuned(arguments.heavy)}# torch.compile waits for the GPU\n",
            triton_problem(),
        ),
    }
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        os.environ["LD_LIBRARY_PATH"] = str(build_driver(path).parent)
        host = Host(build_cache=path / "builds", gpus=GpuLocks(("g0",), path / "locks"))
        try:
            rows = []
            for kind, (source, problem) in kinds.items():
                for name, job in _jobs(source, problem):
                    rows.append(_row(f"{kind}, {name}", host, job))
        finally:
            host.close()
        print(table(("run", "whole (s)", "compiling", "GPU held", *_PARTS, "other"), rows))
        nodes = [_on_nodes(kind, *kinds[kind], path) for kind in _BUILT]
        print()
        rows = [row for each in nodes for row in each.rows()]
        print(table(("run", "build step (s)", "GPU allocated", "with the build step"), rows))
        print()
        print(table(_OF_SUBMISSIONS, [each.row() for each in nodes]))
    return 0


@dataclass(frozen=True)
class _OnNodes:
    """For how long nodes have a GPU for the public and the secret run of one submission."""

    kind: str
    step_s: float
    compiling_s: tuple[float, float]
    built_s: tuple[float, float]
    together_s: float
    warm_s: float

    def rows(self) -> list[tuple[str, ...]]:
        """One for each run."""
        steps = (self.step_s, 0.0)
        figures = zip(("public", "secret"), steps, self.compiling_s, self.built_s, strict=True)
        return [
            (f"{self.kind}, {name}", *(f"{seconds:.2f}" for seconds in each))
            for name, *each in figures
        ]

    def row(self) -> tuple[str, ...]:
        """One for the submission."""
        compiling_s = sum(self.compiling_s)
        figures = (compiling_s, sum(self.built_s), self.together_s, self.warm_s)
        times = (f"{compiling_s / self.together_s:.1f}", f"{compiling_s / self.warm_s:.1f}")
        return (self.kind, *(f"{seconds:.2f}" for seconds in figures), " / ".join(times))


def _on_nodes(kind: str, source: str, problem: ProblemSpec, folder: Path) -> _OnNodes:
    """Judge a submission by nodes of its own, in each way."""
    (_, public), (_, secret) = _jobs(source, problem)
    step_s, built = _on_node(build_job(public, "step", "builder"), folder)
    compiling_s = (_on_node(public, folder)[0], _on_node(secret, folder)[0])
    public, secret = (replace(job, product=built.product) for job in (public, secret))
    built_s = (_on_node(public, folder)[0], _on_node(secret, folder)[0])
    told = FollowUp(secret.job_id, secret.mode, secret.seed)
    together_s, _ = _on_node(replace(public, follow_up=told), folder)
    warm_s = _on_a_warm_node(public, secret, folder)
    return _OnNodes(kind, step_s, compiling_s, built_s, together_s, warm_s)


def _on_node(job: JobSpec, folder: Path) -> tuple[float, RunResult]:
    """How long a node has the job, which starts the harness for it."""
    start = time.monotonic()
    host = _host(folder, lasting=False)
    try:
        results = judge_both(job, _nobody_hears, lambda one, emit: host.judge(one, emit))
    finally:
        host.close()
    for result in results if job.follow_up is not None else results[:1]:
        _expect_accepted(job, result)
    return time.monotonic() - start, results[0]


def _on_a_warm_node(public: JobSpec, secret: JobSpec, folder: Path) -> float:
    """How long a node that has judged before has both jobs."""
    host = _host(folder, lasting=True)
    try:
        _expect_accepted(public, host.judge(public, _nobody_hears))
        start = time.monotonic()
        for job in (public, secret):
            _expect_accepted(job, host.judge(job, _nobody_hears))
        return time.monotonic() - start
    finally:
        host.close()


def _host(folder: Path, *, lasting: bool) -> Host:
    return Host(gpus=GpuLocks(("g0",), folder / "locks"), lasting=lasting)


def _nobody_hears(_event: ProgressEvent) -> None:
    """Takes the place of who hears events."""


def _expect_accepted(job: JobSpec, result: RunResult | None) -> None:
    if result is None or result.verdict is not Verdict.ACCEPTED:
        raise SystemExit(f"{job.job_id}: {result and (result.verdict, result.failure)}")


def _tuned(configurations: int) -> str:
    """A kernel in Triton of which so many are compiled, for each kind of data."""
    tuned = _TUNED.replace("CONFIGURATIONS", str(configurations))
    return TRITON.replace("@triton.jit", tuned).replace(", BLOCK=64", "")


def _jobs(source: str, problem: ProblemSpec) -> tuple[tuple[str, JobSpec], ...]:
    public = device_job(source, Mode.TEST, problem)
    secret = replace(public, job_id="secret", mode=Mode.LEADERBOARD, secret=True, seed=7)
    return ("public", public), ("secret", secret)


def _row(name: str, host: Host, job: JobSpec) -> tuple[str, ...]:
    events: list[ProgressEvent] = []
    result = host.judge(job, events.append)
    if result.verdict is not Verdict.ACCEPTED:
        raise SystemExit(f"{name}: {result.verdict}: {result.failure}")
    return (name, *_figures(result, events))


def _figures(result: RunResult, events: list[ProgressEvent]) -> tuple[str, ...]:
    took_s = result.timings
    compiled_s = sum(event.duration_s or 0.0 for event in events if event.kind == "compiled")
    held_s = took_s["gpu_held"]
    parts = [took_s.get(part, 0.0) for part in _PARTS]
    whole_s = max(took_s["total"], held_s + compiled_s)
    return tuple(
        f"{seconds:.2f}" for seconds in (whole_s, compiled_s, held_s, *parts, held_s - sum(parts))
    )


if __name__ == "__main__":
    raise SystemExit(main())
