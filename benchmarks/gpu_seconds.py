"""For how long a submission holds its GPU, and for what.

At the stand-in for NVIDIA's driver: `python -m benchmarks.gpu_seconds`. Compilers, processes and
checks are real, the GPU is not. A submission is judged as a ranked one is: its tests in public,
then its tests and timed calls on secret data; `--heavy` is how much there is to compile.

The second table is of nodes of a scheduler, which has allocated the GPU before the harness starts:
for how long, if the node compiles, and if a build step without a GPU has done that before.
"""

import argparse
import os
import tempfile
import time
from dataclasses import replace
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
from kernelbot.harness.host.host import Host
from kernelbot.protocol import JobSpec, Mode, ProblemSpec, ProgressEvent, RunResult, Verdict
from kernelbot.protocol.building import build_job
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
        rows = [row for kind in _BUILT for row in _on_nodes(kind, *kinds[kind], path)]
        print()
        print(table(("run", "build step (s)", "GPU allocated", "with the build step"), rows))
    return 0


def _on_nodes(kind: str, source: str, problem: ProblemSpec, folder: Path) -> list[tuple[str, ...]]:
    """A row for each run of a submission that is judged by nodes of its own."""
    rows, product = [], None
    for name, job in _jobs(source, problem):
        step_s = 0.0
        if product is None:
            step_s, built = _on_node(build_job(job, "step", "builder"), folder)
            product = built.product
        without_s, _ = _on_node(job, folder)
        with_s, _ = _on_node(replace(job, product=product), folder)
        figures = (step_s, without_s, with_s)
        rows.append((f"{kind}, {name}", *(f"{seconds:.2f}" for seconds in figures)))
    return rows


def _on_node(job: JobSpec, folder: Path) -> tuple[float, RunResult]:
    """How long a node has the job, which starts the harness for it."""
    start = time.monotonic()
    host = Host(gpus=GpuLocks(("g0",), folder / "locks"), lasting=False)
    try:
        result = host.judge(job, lambda _event: None)
    finally:
        host.close()
    if result.verdict is not Verdict.ACCEPTED:
        raise SystemExit(f"{job.job_id}: {result.verdict}: {result.failure}")
    return time.monotonic() - start, result


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
