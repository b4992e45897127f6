"""Is a score repeatable? The same kernel is judged again and again; how much do its scores vary?

Run with `python -m benchmarks.precision [--judgements 30] [--problem FOLDER]`. Our rule is
compared, on the same samples, with the usual one: the mean, once its standard error is a small
share of it, from three samples on.
"""

import argparse
import math
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from kernelbot.catalog.oracle import Expectation, find_solutions
from kernelbot.catalog.problem import LoadedProblem, load_problem
from kernelbot.harness.host.host import Host
from kernelbot.protocol import (
    DeviceSpec,
    JobSpec,
    Mode,
    ProgressEvent,
    RunResult,
    SourceFile,
    Vendor,
    Verdict,
    WorkloadResult,
)
from kernelbot.protocol.scoring import combine
from kernelbot.render.table import table
from kernelbot.render.units import seconds_text

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
FEWEST = 3
ERRORS = (0.01, 0.001)
"""Shares of the mean at which the usual rule stops."""

CPU = DeviceSpec("CPU", Vendor.CPU)
Rule = Callable[[WorkloadResult], float]
"""One workload's samples in one figure, in ns."""


@dataclass(frozen=True)
class Spread:
    """How scores of one kernel differ, as shares: the standard deviation of the mean, and the
    largest of the smallest."""

    median: float
    deviation: float
    worst_pair: float

    @classmethod
    def from_scores(cls, scores: Sequence[float]) -> "Spread":
        """Of two scores or more."""
        return cls(
            statistics.median(scores),
            statistics.stdev(scores) / statistics.fmean(scores),
            max(scores) / min(scores) - 1,
        )


def early_mean(samples: Sequence[float], error: float) -> float:
    """The mean of the first samples whose standard error is below that share of their mean; of
    all if that is never so."""
    for count in range(FEWEST, len(samples)):
        taken = samples[:count]
        mean = statistics.fmean(taken)
        if statistics.stdev(taken) / math.sqrt(count) < error * mean:
            return mean
    return statistics.fmean(samples)


def _early_mean_of(error: float, load: WorkloadResult) -> float:
    return early_mean(load.samples_ns, error)


def judgements(folder: Path, count: int, device: DeviceSpec = CPU) -> Iterator[RunResult]:
    """The problem's first correct solution, benchmarked over and over on one warm harness.

    Raises RuntimeError if it isn't accepted.
    """
    loaded = load_problem(folder)
    submission = correct_submission(loaded)
    host = Host()
    try:
        for number in range(count):
            job = JobSpec(
                job_id=f"precision-{number}",
                problem=loaded.definition.spec,
                submission=submission,
                mode=Mode.BENCHMARK,
                device=device,
            )
            result = host.judge(job, _ignore)
            if result.verdict is not Verdict.ACCEPTED:
                raise RuntimeError(
                    f"judgement {number} ended as {result.verdict}: {result.failure}"
                )
            yield result
    finally:
        host.close()


def scores_by(rule: Rule, results: Sequence[RunResult], loaded: LoadedProblem) -> list[float]:
    """Each judgement's score in seconds, with its workloads summarised by `rule`."""
    ranking_by = loaded.definition.spec.ranking_by
    return [
        combine(ranking_by, [rule(load) / 1e9 for load in result.phases[-1].workloads])
        for result in results
    ]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--judgements", type=int, default=30)
    parser.add_argument("--problem", type=Path, default=EXAMPLES / "sort_np")
    options = parser.parse_args()
    loaded = load_problem(options.problem)
    results = []
    began = time.monotonic()
    for result in judgements(options.problem, options.judgements):
        results.append(result)
        sys.stderr.write(f"\r{len(results)} of {options.judgements}")
    took_s = time.monotonic() - began
    samples = [len(load.samples_ns) for r in results for load in r.phases[-1].workloads]
    sys.stderr.write("\n")
    print(
        f"{options.problem.name}, judged {len(results)} times in {took_s:.0f} s; "
        f"{statistics.median(samples):.0f} samples a workload at the median\n"
    )
    print(spreads_table(results, loaded))


def spreads_table(results: Sequence[RunResult], loaded: LoadedProblem) -> str:
    """Our rule beside the usual ones, on the same samples."""
    rules: list[tuple[str, Rule]] = [
        ("median, stopped by its interval (ours)", lambda load: statistics.median(load.samples_ns))
    ]
    if loaded.definition.spec.anchor is not None:
        rules.append(("the same, without the anchor's drift", lambda load: load.median_ns))
    rules += [
        (f"mean, stopped by its error below {error:.1%}", partial(_early_mean_of, error))
        for error in ERRORS
    ]
    rows = []
    for name, rule in rules:
        spread = Spread.from_scores(scores_by(rule, results, loaded))
        shares = f"{spread.deviation:.2%}", f"{spread.worst_pair:.2%}"
        rows.append((name, seconds_text(spread.median), *shares))
    headers = ("rule", "median score", "relative deviation", "worst pair")
    return table(headers, rows, right=headers[1:])


def correct_submission(loaded: LoadedProblem) -> SourceFile:
    """The problem's first correct solution, as an author would send it."""
    name = loaded.definition.spec.submission_name
    found = find_solutions(loaded.folder, name)
    path = next(one.path for one in found if one.expected is Expectation.CORRECT)
    return SourceFile(name, path.read_text(encoding="utf-8"))


def _ignore(event: ProgressEvent) -> None:
    """Progress is for people."""


if __name__ == "__main__":
    main()
