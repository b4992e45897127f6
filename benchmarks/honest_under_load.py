"""Is an honest author ever refused? Correct solutions are judged again and again on a machine that
is kept busy.

Run with `python -m benchmarks.honest_under_load [--judgements 200] [--loops 4] [--longest 900]`.
The exit code is 1 if a solution was refused.
"""

import argparse
import contextlib
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import cycle, islice
from pathlib import Path

from benchmarks.precision import EXAMPLES, correct_submission
from kernelbot.catalog.problem import load_problem
from kernelbot.harness.host.host import Host
from kernelbot.protocol import (
    DeviceSpec,
    JobSpec,
    Mode,
    ProgressEvent,
    RunResult,
    SamplingRules,
    Vendor,
    Verdict,
)
from kernelbot.render.table import table
from kernelbot.render.units import seconds_text

PROBLEMS = ("sort_np", "histogram_cpp", "softmax_py", "conv2d_py", "vectoradd_py")
SAMPLING = SamplingRules(
    min_samples=20, max_samples=40, min_total_s=0.01, wall_cap_s=2.0, target_relative_ci=0.05
)
"""Few samples, which accuse an honest author sooner than many do."""


@dataclass
class Tally:
    """What became of one problem's judgements."""

    verdicts: Counter[str] = field(default_factory=Counter)
    scores_s: list[float] = field(default_factory=list)
    corrected: int = 0
    """In how many judgements the judge's clocks added to the claims."""
    complaints: list[str] = field(default_factory=list)

    def add(self, result: RunResult) -> None:
        """One more judgement."""
        self.verdicts[result.verdict.value] += 1
        self.corrected += "added to claims" in result.timings
        if result.verdict is Verdict.ACCEPTED and result.score_s is not None:
            self.scores_s.append(result.score_s)
        elif result.failure is not None:
            self.complaints.append(f"{result.failure.message} {result.failure.evidence}")

    @property
    def refused(self) -> int:
        """How many were blamed on their honest author."""
        ours = {Verdict.ACCEPTED.value, Verdict.INTERNAL_ERROR.value}
        return sum(count for verdict, count in self.verdicts.items() if verdict not in ours)

    def row(self, name: str) -> tuple[str, ...]:
        """A line of the table."""
        middle = statistics.median(self.scores_s) if self.scores_s else 0.0
        spread = statistics.stdev(self.scores_s) / middle if len(self.scores_s) > 1 else 0.0
        counts = (sum(self.verdicts.values()), len(self.scores_s), self.refused, self.corrected)
        return name, *map(str, counts), seconds_text(middle), f"{spread:.0%}"


def main() -> int:
    """Print the table, and the messages of refusals."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--judgements", type=int, default=200)
    parser.add_argument("--loops", type=int, default=4)
    parser.add_argument("--longest", type=float, default=900.0, help="seconds after which it ends")
    parser.add_argument("--problem", type=Path, action="append", help="a problem's folder")
    options = parser.parse_args()
    folders = options.problem or [EXAMPLES / name for name in PROBLEMS]
    tallies = {folder.name: Tally() for folder in folders}
    began = time.monotonic()
    with busy(options.loops):
        for name, result in judged(folders, options.judgements, began + options.longest):
            tallies[name].add(result)
            done = sum(tally.verdicts.total() for tally in tallies.values())
            sys.stderr.write(f"\r{done} of {options.judgements}")
    sys.stderr.write("\n")
    headers = ("problem", "judged", "accepted", "refused", "corrected", "median score", "spread")
    print(f"Beside {options.loops} busy loops, in {time.monotonic() - began:.0f} s:\n")
    print(table(headers, [t.row(name) for name, t in tallies.items()], right=headers[1:]))
    for name, tally in tallies.items():
        for complaint in tally.complaints:
            print(f"\n{name}: {complaint}")
    return int(any(tally.refused for tally in tallies.values()))


def judged(folders: Sequence[Path], count: int, until: float) -> Iterator[tuple[str, RunResult]]:
    """The problems' correct solutions in turn, ranked runs all, on one warm harness."""
    loaded = [load_problem(folder) for folder in folders]
    with contextlib.closing(Host()) as host:
        for number, problem in enumerate(islice(cycle(loaded), count)):
            if time.monotonic() > until:
                return
            job = JobSpec(
                job_id=f"honest-{number}",
                problem=problem.definition.spec,
                submission=correct_submission(problem),
                mode=Mode.LEADERBOARD,
                device=DeviceSpec("CPU", Vendor.CPU),
                secret=True,
                seed=number,
                sampling=SAMPLING,
            )
            yield problem.folder.name, host.judge(job, _ignore)


@contextlib.contextmanager
def busy(loops: int) -> Iterator[None]:
    """`loops` processes that compute without end."""
    command = [sys.executable, "-c", "while True: pass"]
    spinning = [subprocess.Popen(command) for _ in range(loops)]
    try:
        yield
    finally:
        for process in spinning:
            process.kill()
            process.wait()


def _ignore(event: ProgressEvent) -> None:
    """Progress is for people."""


if __name__ == "__main__":
    sys.exit(main())
