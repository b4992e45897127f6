"""How much worse is a score beside others who work or judge on the same machine?

Run with `python -m benchmarks.neighbours [--judgings 10] [--longest 900]`. One kernel, a quicksort
with random pivots, is judged in turn alone; beside two processes that compute without end; beside
another server with which no turns are taken; and beside one with which they are. The other server
judges another kernel without end. Of the calls it is counted how many waited for a processor that
others had, and how many of these were repeated.
"""

import argparse
import contextlib
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from benchmarks.precision import CPU, EXAMPLES, correct_submission
from kernelbot.catalog.problem import LoadedProblem, load_problem
from kernelbot.harness.host.host import Host
from kernelbot.harness.timing.turns import Turns
from kernelbot.protocol import JobSpec, Mode, ProgressEvent, RunResult, SourceFile, Verdict
from kernelbot.protocol.waits import busy_share
from kernelbot.render.table import table
from kernelbot.render.units import seconds_text

RANDOM_PIVOTS = """
import random
import numpy as np


def custom_kernel(data):
    if data.size <= 512:
        return np.sort(data)
    pivot = data[random.randrange(data.size)]
    low, high = data[data < pivot], data[data > pivot]
    middle = data[data == pivot]
    return np.concatenate([custom_kernel(low), middle, custom_kernel(high)])
"""
ALONE, LOOPS = "alone", "beside two busy loops"
AT_ONCE, IN_TURN = "beside another, no turns", "beside another, in turn"
_LOOP = (sys.executable, "-c", "while True: pass")
_READY = b"judging\n"
Others = Callable[[], contextlib.AbstractContextManager[None]]


@dataclass
class Found:
    """The judgings under one condition."""

    scores_s: list[float] = field(default_factory=list)
    waits_s: list[float] = field(default_factory=list)
    calls: int = 0
    waited: int = 0
    repeated: int = 0
    busy: int = 0
    """Judgings on a machine that was too busy for a ranked score."""
    others: int = 0

    def add(self, result: RunResult) -> None:
        """One more."""
        if result.verdict is Verdict.ACCEPTED and result.score_s is not None:
            self.scores_s.append(result.score_s)
            self.waits_s.append(result.timings.get("turn_wait", 0.0))
            self.busy += busy_share(result) is not None
            for load in result.phases[-1].workloads:
                self.calls += len(load.samples_ns) + load.repeated
                self.waited += load.waited or 0
                self.repeated += load.repeated
        else:
            self.others += 1

    def row(self, name: str, alone_s: float) -> tuple[str, ...]:
        """A line of the table."""
        middle_s = statistics.median(self.scores_s)
        found = [min(self.scores_s), middle_s, max(self.scores_s)]
        worse = f"{middle_s / alone_s - 1:+.1%}"
        wait = seconds_text(statistics.median(self.waits_s))
        shares = [f"{count / max(self.calls, 1):.0%}" for count in (self.waited, self.repeated)]
        judged = str(len(self.scores_s))
        return name, judged, *map(seconds_text, found), worse, *shares, str(self.busy), wait


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--judgings", type=int, default=10, help="under each condition")
    parser.add_argument("--longest", type=float, default=900.0, help="seconds after which it ends")
    parser.add_argument("--neighbour", help="(internal) judge without end, with the turn so named")
    options = parser.parse_args()
    if options.neighbour is not None:
        judge_without_end(options.neighbour)
    name = f"kernelbot-benchmark-{os.getpid()}"
    others: dict[str, Others] = {
        ALONE: contextlib.nullcontext,
        LOOPS: busy_loops,
        AT_ONCE: lambda: neighbour(""),
        IN_TURN: lambda: neighbour(name),
    }
    found = {condition: Found() for condition in others}
    until = time.monotonic() + options.longest
    problem = load_problem(EXAMPLES / "sort_np")
    with contextlib.closing(Host(turns=Turns(name))) as host:
        host.judge(a_job(problem, -1), _ignore)  # the first one finds nothing warm
        for number in range(options.judgings):
            if time.monotonic() > until:
                break
            for condition, beside in others.items():
                with beside():
                    found[condition].add(host.judge(a_job(problem, number), _ignore))
            sys.stderr.write(f"\r{number + 1} of {options.judgings}")
    sys.stderr.write("\n")
    headers = ["random_pivots", "judged", "least", "median", "most", "worse"]
    headers += ["calls waited", "repeated", "too busy", "turn"]
    alone_s = statistics.median(found[ALONE].scores_s)
    print(f"Load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors\n")
    print(table(headers, [one.row(key, alone_s) for key, one in found.items()], right=headers[1:]))


def a_job(problem: LoadedProblem, number: int) -> JobSpec:
    """A ranked run of the kernel."""
    return JobSpec(
        job_id=f"neighbours-{number}",
        problem=problem.definition.spec,
        submission=SourceFile("submission.py", RANDOM_PIVOTS),
        mode=Mode.LEADERBOARD,
        device=CPU,
        secret=True,
        seed=number + 2,
    )


@contextlib.contextmanager
def busy_loops() -> Iterator[None]:
    """Two processes that compute meanwhile."""
    with subprocess.Popen(_LOOP) as one, subprocess.Popen(_LOOP) as other:
        try:
            yield
        finally:
            one.kill()
            other.kill()


@contextlib.contextmanager
def neighbour(turn: str) -> Iterator[None]:
    """A server of its own that judges meanwhile, and takes turns so named."""
    command = [sys.executable, "-m", "benchmarks.neighbours", f"--neighbour={turn}"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        try:
            if process.stdout is None or process.stdout.readline() != _READY:
                raise RuntimeError("the neighbour has ended")
            yield
        finally:
            process.kill()


def judge_without_end(turn: str) -> None:
    """Judge another kernel again and again."""
    problem = load_problem(EXAMPLES / "sort_np")
    job = replace(a_job(problem, 0), submission=correct_submission(problem))
    with contextlib.closing(Host(turns=Turns(turn))) as host:
        host.judge(job, _ignore)
        sys.stdout.buffer.write(_READY)
        sys.stdout.flush()
        while True:
            host.judge(job, _ignore)


def _ignore(event: ProgressEvent) -> None:
    """Progress is for people."""


if __name__ == "__main__":
    main()
