"""The overhead of judging a trivial torch kernel: warm, cold, and by a plain eval script.

    python -m benchmarks.overhead [--repeat N]

Overhead is wall time minus the time inside of the author's function; of the timed phases the
sampling is taken off too. All ways judge the same kernel on the same machine in one run, with the
sandbox on. They time it in one process: that a ranked one is timed in several, for its interval, is
a column of its own. Between two jobs is a pause, as between one person's submissions, in which warm
runners are made for the next; back to back, each job also pays for what is made for the one after
it.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from kernelbot.harness.host.host import Host
from kernelbot.protocol import (
    BuildConfig,
    Case,
    DeviceSpec,
    HarnessKind,
    JobSpec,
    Lang,
    Mode,
    ProblemSpec,
    ProgressEvent,
    RankRule,
    RunResult,
    SamplingRules,
    SourceFile,
    Vendor,
    Verdict,
    from_wire,
    to_wire,
)
from kernelbot.render.table import table

_REFERENCE = """
import torch
def generate_input(size, seed):
    generator = torch.Generator(DEVICE).manual_seed(seed)
    return tuple(torch.rand(size, generator=generator, device=DEVICE) for _ in range(2))
def ref_kernel(data):
    return data[0] + data[1]
def check_implementation(data, output):
    good = torch.equal(ref_kernel(data), output)
    return good, "" if good else "not the sum"
"""
_KERNEL = "import torch\ndef custom_kernel(data):\n    return data[0] + data[1]\n"
_EVAL = """
import os, sys, time
import torch
from reference import check_implementation, generate_input
from submission import custom_kernel
mode, path = sys.argv[1:3]
with os.fdopen(int(os.environ["POPCORN_FD"]), "w") as out:
    cases = [dict(part.split(": ") for part in line.strip().split("; "))
             for line in open(path) if line.strip()]
    kind = "test" if mode == "test" else "benchmark"
    print(f"{kind}-count: {len(cases)}", file=out)
    good = True
    for index, case in enumerate(cases):
        data = generate_input(**{key: int(value) for key, value in case.items()})
        start = time.perf_counter_ns()
        output = custom_kernel(data)
        took = time.perf_counter_ns() - start
        fine, message = check_implementation(data, output)
        good = good and fine
        print(f"{kind}.{index}.spec: {case}", file=out)
        if kind == "test":
            print(f"test.{index}.status: {'pass' if fine else 'fail'}", file=out)
        else:
            for key, value in (("runs", 1), ("mean", took), ("std", 0), ("err", 0),
                               ("best", took), ("worst", took)):
                print(f"benchmark.{index}.{key}: {value}", file=out)
    print(f"check: {'pass' if good else 'fail'}", file=out)
sys.exit(0 if good else 112)
"""
_PAUSE_S = 0.2
_SIZES = (100, 1000, 10_000)
_SAMPLING = SamplingRules(min_samples=20, max_samples=20, min_total_s=0.0, warmup_s=0.0)
_MOST = SamplingRules().processes
CPU = DeviceSpec("CPU", Vendor.CPU)
Judge = Callable[[JobSpec], RunResult]


@dataclass(frozen=True)
class Figure:
    """Medians over the repetitions, in ms."""

    way: str
    test_ms: float
    ranked_ms: float
    """All phases, public and secret, without sampling, timed in one process."""
    in_most_ms: float
    """The same timed in as many processes as a ranked one is."""


def problem(harness: HarnessKind, device: DeviceSpec = CPU) -> ProblemSpec:
    """Five tests and three workloads of adding two vectors."""
    place = "cpu" if device.vendor is Vendor.CPU else "cuda"
    files = [SourceFile("reference.py", f'DEVICE = "{place}"\n{_REFERENCE}')]
    if harness is HarnessKind.SCRIPT:
        files.append(SourceFile("eval.py", _EVAL))
    return ProblemSpec(
        name="add",
        lang=Lang.PY,
        harness=harness,
        harness_reason="to compare",
        files=tuple(files),
        submission_name="submission.py",
        config=BuildConfig(main="eval.py" if harness is HarnessKind.SCRIPT else None),
        tests=tuple(Case({"size": size, "seed": 7}) for size in (*_SIZES, 1, 64)),
        benchmarks=tuple(Case({"size": size, "seed": 8}) for size in _SIZES),
        ranking_by=RankRule.GEOM,
    )


def job(
    harness: HarnessKind,
    mode: Mode,
    device: DeviceSpec = CPU,
    *,
    secret: bool = False,
    processes: int = 1,
) -> JobSpec:
    """One run of the trivial kernel."""
    return JobSpec(
        job_id="overhead",
        problem=problem(harness, device),
        submission=SourceFile("submission.py", _KERNEL),
        mode=mode,
        device=device,
        secret=secret,
        seed=12345 if secret else None,
        sampling=replace(_SAMPLING, processes=processes),
    )


def overhead_s(judge: Judge, spec: JobSpec, pause_s: float = _PAUSE_S) -> float:
    """The overhead of one run after a pause. Raises RuntimeError if it isn't accepted."""
    time.sleep(pause_s)
    start = time.monotonic()
    result = judge(spec)
    wall_s = time.monotonic() - start
    if result.verdict is not Verdict.ACCEPTED:
        raise RuntimeError(f"{spec.mode}: {result.verdict}, {result.failure}")
    sampled_s = result.timings.get("sampling", 0.0)
    return wall_s - max(result.timings.get("kernel", 0.0) if not sampled_s else 0.0, sampled_s)


def judge_cold(spec: JobSpec) -> RunResult:
    """A harness started for this one job."""
    done = subprocess.run(
        [sys.executable, "-m", "kernelbot.harness"],
        input=json.dumps(to_wire(spec)),
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    return from_wire(RunResult, json.loads(done.stdout))


def measure(
    way: str,
    judge: Judge,
    harness: HarnessKind,
    repeat: int,
    device: DeviceSpec = CPU,
    pause_s: float = _PAUSE_S,
) -> Figure:
    """One line of the table."""
    trial = job(harness, Mode.TEST, device)

    def ranked_ms(processes: int) -> float:
        runs = [
            job(harness, Mode.LEADERBOARD, device, secret=secret, processes=processes)
            for secret in (False, True)
        ]
        sums_s = [
            sum(overhead_s(judge, one, pause_s) for one in runs) for _ in range(max(1, repeat // 2))
        ]
        return statistics.median(sums_s) * 1e3

    test = [overhead_s(judge, trial, pause_s) for _ in range(repeat)]
    return Figure(way, statistics.median(test) * 1e3, ranked_ms(1), ranked_ms(_MOST))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--repeat", type=int, default=11)
    figures = measure_all(parser.parse_args().repeat)
    print(figures_table(figures))
    _compare(figures[0], figures[-1])


def measure_all(repeat: int, device: DeviceSpec = CPU) -> tuple[Figure, ...]:
    """The ways (a) after a pause and back to back, (b) and (c). Raises RuntimeError if one isn't
    accepted."""

    def quiet(_event: ProgressEvent) -> None:
        return

    host = Host()

    def judge_warm(spec: JobSpec) -> RunResult:
        return host.judge(spec, quiet)

    try:
        # starts what is to be warm
        judge_warm(job(HarnessKind.NATIVE, Mode.LEADERBOARD, device))
        few = max(1, repeat // 4)
        return (
            measure("(a) warm, native", judge_warm, HarnessKind.NATIVE, repeat, device),
            measure(
                "(a) back to back", judge_warm, HarnessKind.NATIVE, repeat, device, pause_s=0.0
            ),
            measure("(b) cold, native", judge_cold, HarnessKind.NATIVE, few, device),
            measure("(c) plain eval script", judge_warm, HarnessKind.SCRIPT, few, device),
        )
    finally:
        host.close()


def figures_table(figures: Sequence[Figure]) -> str:
    """A line for each."""
    headers = (
        *("way", "test mode ms", "all phases, public + secret, without sampling ms"),
        f"in {_MOST} processes ms",
    )
    rows = [
        (f.way, f"{f.test_ms:.0f}", f"{f.ranked_ms:.0f}", f"{f.in_most_ms:.0f}") for f in figures
    ]
    return table(headers, rows, right=headers[1:])


def _compare(warm: Figure, script: Figure) -> None:
    ratio = script.test_ms / warm.test_ms
    print(f"\n(c) is {ratio:.0f} times (a) in test mode")
    targets = (
        ("(a) test mode under 100 ms", warm.test_ms < 100),
        ("(a) all phases under 250 ms in one process", warm.ranked_ms < 250),
        ("(a) at least 40 times under (c)", ratio >= 40),
    )
    for target, holds in targets:
        print(f"{'holds ' if holds else 'MISSED'} {target}")


if __name__ == "__main__":
    main()
