"""Does an interval hold the truth? Six kernels are judged again and again; how many of the 95 %
intervals hold the kernel's long-run median, which is the median over all judgings?

Run with `python -m benchmarks.coverage [--judgings 100] [--beside 1] [--longest 6000]`; `--beside`
is the number of neighbours that compute and copy memory without end. The kernels are judged in
turn, so that their judgings are spread over the same minutes.

Four intervals are compared, of the same samples: that of one process's samples alone, that of all
samples as if one process had taken them, ours of several processes, and ours widened by what the
other five kernels' judgings differ beyond their intervals.
"""

import argparse
import contextlib
import json
import math
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import cycle, islice
from pathlib import Path

from benchmarks.honest_under_load import busy
from benchmarks.precision import CPU, EXAMPLES, correct_submission
from kernelbot.catalog.problem import LoadedProblem, load_problem
from kernelbot.harness.host.host import Host
from kernelbot.protocol import JobSpec, Mode, ProgressEvent, Verdict
from kernelbot.protocol.scoring import median_interval, process_interval
from kernelbot.render.table import table
from kernelbot.render.units import seconds_text

PROBLEMS = (
    "sort_np",
    "prefixsum_np",
    "histogram_np",
    "histogram_cpp",
    "vectoradd_cpp",
    "softmax_py",
)
_Z95 = 1.96

Interval = tuple[float, float]


@dataclass(frozen=True)
class Judging:
    """What one judging of a kernel measured, in ns, and how long it took."""

    samples_ns: tuple[float, ...]
    processes: int
    stopped_by: str
    took_s: float

    @property
    def median_ns(self) -> float:
        """Of all samples."""
        return statistics.median(self.samples_ns)

    @property
    def of_each(self) -> list[Sequence[float]]:
        """Each process's samples."""
        return [self.samples_ns[place :: self.processes] for place in range(self.processes)]

    @property
    def interval_ns(self) -> Interval:
        """Ours."""
        return process_interval(self.samples_ns, self.processes)


@dataclass
class Found:
    """How many of a rule's intervals held the truth, and how wide they were, as shares."""

    held: int = 0
    half_widths: list[float] | None = None

    def add(self, interval: Interval, truth: float) -> None:
        """One more interval."""
        low, high = interval
        self.held += low <= truth <= high
        self.half_widths = [*(self.half_widths or []), (high - low) / 2 / truth]

    @property
    def count(self) -> int:
        """Of the intervals."""
        return len(self.half_widths or [])

    def row(self, name: str) -> tuple[str, ...]:
        """A line of the table."""
        half_width = statistics.median(self.half_widths or [0.0])
        share = f"{self.held / self.count:.1%}"
        return name, f"{self.held} of {self.count}", share, f"±{half_width:.2%}"


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--judgings", type=int, default=100, help="of each kernel")
    parser.add_argument("--beside", type=int, default=0, help="busy neighbours")
    parser.add_argument("--longest", type=float, default=6000.0, help="seconds after which it ends")
    parser.add_argument("--keep", type=Path, help="a file for the samples, as JSON")
    options = parser.parse_args()
    folders = [EXAMPLES / name for name in PROBLEMS]
    judged: dict[str, list[Judging]] = {folder.name: [] for folder in folders}
    began = time.monotonic()
    with busy(options.beside):
        until = began + options.longest
        for name, judging in judgings(folders, options.judgings * len(folders), until):
            judged[name].append(judging)
            done = sum(map(len, judged.values()))
            sys.stderr.write(f"\r{done} of {options.judgings * len(folders)}")
    sys.stderr.write("\n")
    if options.keep:
        kept = {name: [asdict(one) for one in ones] for name, ones in judged.items()}
        options.keep.write_text(json.dumps(kept), encoding="utf-8")
    took_s = time.monotonic() - began
    print(f"Beside {options.beside} neighbours, in {took_s:.0f} s:\n\n{report(judged)}")


def judgings(folders: Sequence[Path], count: int, until: float) -> Iterator[tuple[str, Judging]]:
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
            judging = Judging(load.samples_ns, load.processes, load.stopped_by, took_s)
            yield problem.folder.name, judging


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


def report(judged: Mapping[str, Sequence[Judging]]) -> str:
    """How the rules did, and each kernel's own lines."""
    several = {name: ones for name, ones in judged.items() if len(ones) > 1}
    rules: list[tuple[str, Callable[[str], Found]]] = [
        ("one process", lambda name: of_one_process(several[name])),
        ("all samples as one process's", lambda name: as_one(several[name])),
        ("processes (ours)", lambda name: ours(several[name])),
        (
            "ours and the scatter of others",
            lambda name: ours(several[name], _others(several, name)),
        ),
    ]
    rows = [together([rule(name) for name in several]).row(text) for text, rule in rules]
    headers = ("interval", "hold it", "share", "half-width")
    return "\n\n".join(
        (
            table(headers, rows, right=headers[1:]),
            _by_kernel(several),
        )
    )


def _by_kernel(judged: Mapping[str, Sequence[Judging]]) -> str:
    headers = ("kernel", "median", "judgings", "ours", "half-width", "scatter", "by processes", "s")
    rows = []
    for name, ones in judged.items():
        found = ours(ones)
        middle = statistics.median(one.median_ns for one in ones)
        scatter = statistics.stdev(math.log(one.median_ns) for one in ones)
        explained = math.sqrt(statistics.fmean(map(_variance_of_mean, ones)))
        _, _, share, half_width = found.row(name)
        took_s = statistics.median(one.took_s for one in ones)
        shares = (share, half_width, f"{scatter:.2%}", f"{explained:.2%}", f"{took_s:.1f}")
        rows.append((name, seconds_text(middle / 1e9), str(len(ones)), *shares))
    return table(headers, rows, right=headers[1:])


def of_one_process(ones: Sequence[Judging]) -> Found:
    """The interval of each process's samples, as if it had been alone."""
    each = [samples for one in ones for samples in one.of_each]
    return _held(map(median_interval, each), statistics.median(map(statistics.median, each)))


def as_one(ones: Sequence[Judging]) -> Found:
    """The interval of all samples of a judging, whichever process took them."""
    intervals = (median_interval(one.samples_ns) for one in ones)
    return _held(intervals, statistics.median(one.median_ns for one in ones))


def ours(ones: Sequence[Judging], scatter: float = 0.0) -> Found:
    """The interval of several processes, widened by the deviation between judgings, as a share."""
    intervals = (_widened(one, scatter) for one in ones)
    return _held(intervals, statistics.median(one.median_ns for one in ones))


def _widened(one: Judging, scatter: float) -> Interval:
    low, high = one.interval_ns
    more = _Z95 * scatter
    return (
        one.median_ns * math.exp(-math.hypot(math.log(one.median_ns / low), more)),
        one.median_ns * math.exp(math.hypot(math.log(high / one.median_ns), more)),
    )


def _held(intervals: Iterable[Interval], truth: float) -> Found:
    found = Found()
    for interval in intervals:
        found.add(interval, truth)
    return found


def together(found: Sequence[Found]) -> Found:
    """Of all kernels."""
    widths = [width for one in found for width in one.half_widths or []]
    return Found(sum(one.held for one in found), widths)


def _others(judged: Mapping[str, Sequence[Judging]], name: str) -> float:
    """The deviation between judgings that the other kernels show beyond that of their processes."""
    beyond = [
        statistics.variance(math.log(one.median_ns) for one in ones)
        - statistics.fmean(map(_variance_of_mean, ones))
        for other, ones in judged.items()
        if other != name
    ]
    return math.sqrt(max(statistics.fmean(beyond), 0.0)) if beyond else 0.0


def _variance_of_mean(one: Judging) -> float:
    """Of the mean of the processes' medians, in logarithms: what explains scatter by processes."""
    if one.processes < 2:
        return 0.0
    logs = [math.log(statistics.median(samples)) for samples in one.of_each]
    return statistics.variance(logs) / len(logs)


def _ignore(event: ProgressEvent) -> None:
    """Progress is for people."""


if __name__ == "__main__":
    main()
