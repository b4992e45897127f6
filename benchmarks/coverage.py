"""Does an interval hold the truth? Six kernels are judged again and again; how many of the 95 %
intervals hold the kernel's long-run median, which is the median over all judgings?

Run with `python -m benchmarks.coverage [--judgings 100] [--beside 1] [--longest 1320]
[--json FILE]`; `--beside` is the number of neighbours that compute and copy memory without end. The
kernels are judged in turn, so that their judgings are spread over the same minutes. `--json` keeps
each judging as a line of JSON as soon as it has ended, and `--read FILE` makes the tables of such a
file without judging anything.

These intervals are compared, of the same samples: that of one process's samples alone, that of all
samples as if one process had taken them, a run's own, and that which is shown of a ranked run: its
own, widened by what the device had shown before it, as the platform estimates that. Judgings whose
own interval is wider than +-10 % aren't shown there, since the platform measures them again, three
times at most: the kernel's next judging stands for that. The last interval is the own one, widened
by what the other five kernels' judgings of this run differ beyond their intervals, which nobody can
know beforehand.
"""

import argparse
import contextlib
import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from itertools import cycle, islice
from pathlib import Path

from benchmarks.coverage_known import known_before
from benchmarks.coverage_rules import Judging, report
from benchmarks.honest_under_load import busy
from benchmarks.precision import CPU, EXAMPLES, correct_submission
from kernelbot.catalog.problem import LoadedProblem, load_problem
from kernelbot.harness.host.host import Host
from kernelbot.protocol import JobSpec, Mode, ProgressEvent, Verdict

PROBLEMS = (
    "sort_np",
    "prefixsum_np",
    "histogram_np",
    "histogram_cpp",
    "vectoradd_cpp",
    "softmax_py",
)
_SAID_EVERY_S = 30.0


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--judgings", type=int, default=100, help="of each kernel")
    parser.add_argument("--beside", type=int, default=0, help="busy neighbours")
    parser.add_argument("--longest", type=float, default=6000.0, help="seconds after which it ends")
    parser.add_argument("--json", type=Path, help="a file for the judgings, a line for each")
    parser.add_argument("--read", type=Path, help="such a file, instead of judging")
    parser.add_argument("--before", type=Path, help="such a file, of what was judged there before")
    options = parser.parse_args()
    if options.read:
        judged = read(options.read)
        print(f"{len(judged)} judgings of {options.read.name}:\n")
    else:
        began = time.monotonic()
        load = os.getloadavg()[0]
        with busy(options.beside):
            count = options.judgings * len(PROBLEMS)
            judged = measure(count, began + options.longest, options.json)
        print(
            f"{len(judged)} judgings in {time.monotonic() - began:.0f} s, beside {options.beside} "
            f"neighbours; the load average was {load:.1f} before:\n"
        )
    earlier = read(options.before) if options.before else []
    print(report(judged, known_before(judged, earlier)))


def measure(count: int, until: float, file: Path | None) -> list[Judging]:
    """At most so many judgings, until a time of the monotonic clock; each is added to the file."""
    folders = [EXAMPLES / name for name in PROBLEMS]
    judged = list[Judging]()
    began = said = time.monotonic()
    with contextlib.ExitStack() as stack:
        lines = stack.enter_context(file.open("w", encoding="utf-8")) if file else None
        for judging in judgings(folders, count, until):
            judged.append(judging)
            if lines:
                lines.write(json.dumps(asdict(judging)) + "\n")
                lines.flush()
            now = time.monotonic()
            if now - said >= _SAID_EVERY_S or len(judged) == 1:
                said = now
                _say_progress(len(judged), count, now - began, until - now)
    return judged


def _say_progress(done: int, count: int, took_s: float, left_s: float) -> None:
    """How far it is. `left_s`: until it ends in any case."""
    left_s = max(min(left_s, took_s / done * (count - done)), 0.0)
    sys.stderr.write(f"{done} of {count} judgings in {took_s:.0f} s, {left_s:.0f} s to go\n")
    sys.stderr.flush()


def read(file: Path) -> list[Judging]:
    """The judgings of a file that `--json` has made, in their order."""
    with file.open(encoding="utf-8") as lines:
        found = [json.loads(line) for line in lines]
    return [Judging(**{**one, "samples_ns": tuple(one["samples_ns"])}) for one in found]


def judgings(folders: Sequence[Path], count: int, until: float) -> Iterator[Judging]:
    """The problems' correct solutions in turn, on one warm harness; of each problem its last
    workload. Raises RuntimeError if one isn't accepted."""
    loaded = [load_problem(folder) for folder in folders]
    with contextlib.closing(Host()) as host:
        for number, problem in enumerate(islice(cycle(loaded), count)):
            if time.monotonic() > until:
                return
            start = time.monotonic()
            result = host.judge(_job(problem, number), _ignore)
            if result.verdict is not Verdict.ACCEPTED:
                raise RuntimeError(f"judging {number}: {result.verdict}, {result.failure}")
            (load,) = result.phases[-1].workloads
            took_s = time.monotonic() - start
            name = problem.folder.name
            yield Judging(name, load.samples_ns, load.processes, load.stopped_by, took_s)


def _job(problem: LoadedProblem, number: int) -> JobSpec:
    spec = problem.definition.spec
    return JobSpec(
        job_id=f"coverage-{number}",
        problem=replace(spec, benchmarks=spec.benchmarks[-1:], floors=(), anchor=None),
        submission=correct_submission(problem),
        mode=Mode.LEADERBOARD,
        device=CPU,
        secret=True,
        seed=number,
    )


def _ignore(event: ProgressEvent) -> None:
    """Progress is for people."""


if __name__ == "__main__":
    main()
