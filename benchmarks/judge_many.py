"""Sources judged side by side from Python: verdicts a second, how long one takes, what it costs.

Run with `python -m benchmarks.judge_many [--count N] [--slots N] [--problem DIR] [--timed N]`.
All are different, and right. Processor time is that of the host and all that it starts, and of
this process; memory is what those of the host's processes have for themselves that live as long
as it does. The machine's load is printed: beside other work only the processor time says something.
"""

import argparse
import asyncio
import itertools
import os
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.support.warm import end_judges, pids_of_judges

from benchmarks.figures import median_and_p95_ms
from benchmarks.processor_time import processor_s
from kernelbot import Judge
from kernelbot.harness.host.warm.folder import PrivateFolder
from kernelbot.harness.sandbox.runner_tree import children_of
from kernelbot.protocol import Mode, Verdict
from kernelbot.render.table import table

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
EXPECTED_PER_S, EXPECTED_P95_MS, EXPECTED_SPREAD = 25.0, 150.0, 0.01
_WARM_UP = 20
_ROUNDS = 10
"""Memory is looked at after each tenth of the sources."""


@dataclass
class Figures:
    """What was measured."""

    took_s: list[float] = field(default_factory=list)
    memory_bytes: list[dict[int, int]] = field(default_factory=list)
    """The memory of each process of the host's, by its id, after each tenth."""
    wall_s: float = 0.0
    host_s: float = 0.0
    own_s: float = 0.0


def sources(problem: Path) -> Iterator[str]:
    """The first right solution, each time with a line of its own."""
    text = min((problem / "solutions" / "correct").iterdir()).read_text()
    return (f"{text}\n# {number}\n" for number in itertools.count())


async def judge_all(
    judge: Judge, problem: Path, each: Iterator[str], count: int, slots: int
) -> list[float]:
    """Seconds that each takes, with as many at once as there are slots."""
    took_s: list[float] = []
    left = iter(range(count))

    async def one_after_another() -> None:
        for _ in left:
            start = time.perf_counter()
            report = await judge.judge(problem, next(each))
            took_s.append(time.perf_counter() - start)
            if report.verdict is not Verdict.ACCEPTED:
                raise RuntimeError(f"A right source ended as {report.verdict}: {report.message}")

    await asyncio.gather(*(one_after_another() for _ in range(slots)))
    return took_s


async def measure(problem: Path, count: int, slots: int, folder: Path) -> Figures:
    """Judge `count` sources, after some that aren't counted."""
    figures, each = Figures(), sources(problem)
    async with Judge(slots=slots) as judge:
        await judge_all(judge, problem, each, _WARM_UP, slots)
        (host,) = pids_of_judges(folder)
        host_s, own_s, start = processor_s(host), time.process_time(), time.perf_counter()
        for _ in range(_ROUNDS):
            figures.took_s += await judge_all(judge, problem, each, count // _ROUNDS, slots)
            pids = (host, *below(host))
            figures.memory_bytes.append({pid: own_memory_bytes(pid) for pid in pids})
        figures.wall_s = time.perf_counter() - start
        figures.host_s, figures.own_s = processor_s(host) - host_s, time.process_time() - own_s
    return figures


async def timed(problem: Path, count: int, slots: int) -> tuple[list[float], list[float]]:
    """Scores in seconds of one source: alone, and while tests run on all other slots."""
    each = sources(problem)
    source = next(each)

    async def scores(judge: Judge) -> list[float]:
        reports = [await judge.judge(problem, source, mode=Mode.BENCHMARK) for _ in range(count)]
        return [report.score_s for report in reports if report.score_s is not None]

    async with Judge(slots=slots) as judge:
        alone = await scores(judge)
        others = asyncio.create_task(judge_all(judge, problem, each, 1_000_000, slots - 1))
        beside = await scores(judge)
        others.cancel()
        await asyncio.wait([others])
    return alone, beside


def below(pid: int) -> Iterator[int]:
    """All of its descendants."""
    for child in children_of(pid):
        yield child
        yield from below(child)


def own_memory_bytes(pid: int) -> int:
    """What this process alone has in memory; 0 if it has ended."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    found = (line.split() for line in lines if line.startswith(("Private_Clean", "Private_Dirty")))
    return sum(int(words[1]) << 10 for words in found)


def holds(is_so: bool) -> str:
    """The last column."""
    return "holds" if is_so else "MISSED"


def show(figures: Figures) -> None:
    """Print the table."""
    count = len(figures.took_s)
    per_s = count / figures.wall_s
    median_ms, p95_ms = median_and_p95_ms(figures.took_s)
    lasting = set[int].intersection(*map(set, figures.memory_bytes))
    first, last = (sum(map(figures.memory_bytes[at].__getitem__, lasting)) for at in (0, -1))
    rows = [
        ("verdicts a second", f"{per_s:.1f}", f"{EXPECTED_PER_S:g}",
         holds(per_s >= EXPECTED_PER_S)),
        ("one, median ms", median_ms, "", ""),
        ("one, 95th percentile ms", p95_ms, f"{EXPECTED_P95_MS:g}",
         holds(float(p95_ms) <= EXPECTED_P95_MS)),
        ("processor ms of the host for one", f"{1e3 * figures.host_s / count:.1f}", "", ""),
        ("processor ms of the caller for one", f"{1e3 * figures.own_s / count:.1f}", "", ""),
        ("memory of the host, MB, first", f"{first / 1e6:.0f}", "", ""),
        ("memory of the host, MB, last", f"{last / 1e6:.0f}", "", ""),
    ]  # fmt: skip
    print(table(("figure", "measured", "expected", ""), rows, right=("measured", "expected")))


def show_timed(alone: Sequence[float], beside: Sequence[float]) -> None:
    """Print what tests beside a measurement change."""
    one, other = statistics.median(alone), statistics.median(beside)
    change = other / one - 1
    print(
        f"\nTimed alone: {1e6 * one:.2f} us; while tests run beside it: {1e6 * other:.2f} us, ",
        end="",
    )
    print(f"{100 * change:+.2f} % ({holds(abs(change) <= EXPECTED_SPREAD)})")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--slots", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--problem", type=Path, default=EXAMPLES / "vectoradd_py")
    parser.add_argument("--timed", type=int, default=0, help="so many measurements each as well")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as runtime:
        os.environ["XDG_RUNTIME_DIR"] = runtime
        folder = Path(runtime, "kernelbot")
        try:
            before = os.getloadavg()
            figures = asyncio.run(
                measure(arguments.problem, arguments.count, arguments.slots, folder)
            )
            print(
                f"{len(figures.took_s)} sources for {arguments.problem.name}, test mode, ", end=""
            )
            print(f"{arguments.slots} slots; load {before[0]:.1f} before:\n")
            show(figures)
            if arguments.timed:
                show_timed(*asyncio.run(timed(arguments.problem, arguments.timed, arguments.slots)))
        finally:
            if folder.is_dir():
                end_judges(PrivateFolder.open(folder))


if __name__ == "__main__":
    main()
