"""What does a duel decide, by the rules that boards duel by, and how long does it take?

Run with `python -m benchmarks.duel_decisions [--duels 6] [--more 0 0.01 0.02 0.05] [--wall-s 2]
[--noise bursts] [--json FILE]`. A C++ kernel is dueled with one that does some share more work,
again and again, in random order, and with itself. A duel is right if its interval is on the right
side of 1 and the ratio differs by more than 0.5 %, wrong if it is so on the other side, and open
else; of a kernel with itself each decision is wrong. `--wall-s`: the time of an ordinary workload;
a duel has a multiple. `--json` keeps each duel with all its pairs as a line of JSON as soon as it
has ended, so that other rules can be tried on them.
"""

import argparse
import contextlib
import json
import math
import random
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from benchmarks.duel import bursts, job_of
from kernelbot.harness.host.host import Host
from kernelbot.protocol import DuelResult, ProgressEvent, SamplingRules, Verdict
from kernelbot.render.table import table
from kernelbot.render.units import seconds_text

APART = 1.005
"""A ratio nearer to 1 decides nothing on a board."""


@dataclass(frozen=True)
class Dueled:
    """What one duel showed of the first kernel, and how long it took."""

    ratio: float
    low: float
    high: float
    took_s: float
    pairs: int

    @classmethod
    def from_result(cls, duel: DuelResult, took_s: float) -> "Dueled":
        """One of a single workload."""
        low, high = duel.ratio_ci95
        return cls(duel.ratio, low, high, took_s, len(duel.workloads[-1].submission_ns))

    @property
    def says(self) -> int:
        """-1: the first kernel is faster; 1: it is slower; 0: nothing."""
        if self.high < 1 and self.ratio * APART < 1:
            return -1
        return 1 if self.low > 1 and self.ratio > APART else 0


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--duels", type=int, default=6, help="of each kind")
    parser.add_argument("--more", type=float, nargs="+", default=(0.0, 0.01, 0.02, 0.05))
    parser.add_argument("--wall-s", type=float, default=SamplingRules().wall_cap_s)
    parser.add_argument("--noise", choices=("none", "bursts"), default="none")
    parser.add_argument("--json", type=Path, help="a file for the duels, a line for each")
    options = parser.parse_args()
    rules = SamplingRules(wall_cap_s=options.wall_s)
    with bursts(2) if options.noise == "bursts" else contextlib.nullcontext():
        found = measure(options.duels, options.more, rules, options.json)
    print(f"{options.duels} duels of each kind, noise: {options.noise}\n")
    print(decisions_table(found))
    if same := found.get(0.0):
        print(f"\nOf a kernel with itself, ratios deviate by {deviation(same):.2%}.")


def measure(
    duels: int, more: Iterable[float], rules: SamplingRules, file: Path | None = None
) -> Mapping[float, Sequence[Dueled]]:
    """Duels by how much more work the opponent does; each is added to the file. Raises RuntimeError
    if one fails."""
    jobs = [share for share in more for _ in range(duels)]
    found = defaultdict[float, list[Dueled]](list)
    with contextlib.ExitStack() as stack:
        cache = stack.enter_context(tempfile.TemporaryDirectory())
        host = stack.enter_context(contextlib.closing(Host(1, Path(cache))))
        lines = stack.enter_context(file.open("w", encoding="utf-8")) if file else None
        for number, share in enumerate(random.sample(jobs, len(jobs)), 1):
            job = replace(job_of(number, 20, share, 0.0, is_duel=True), sampling=rules)
            began = time.monotonic()
            result = host.judge(job, _ignore)
            if result.verdict is not Verdict.ACCEPTED or result.duel is None:
                raise RuntimeError(f"duel {number}: {result.verdict}, {result.failure}")
            found[share].append(Dueled.from_result(result.duel, time.monotonic() - began))
            if lines:
                lines.write(json.dumps({"more": share, **asdict(result.duel)}) + "\n")
                lines.flush()
            sys.stderr.write(f"\r{number} of {len(jobs)}")
    sys.stderr.write("\n")
    return dict(sorted(found.items()))


def decisions_table(found: Mapping[float, Sequence[Dueled]]) -> str:
    """A row for each difference."""
    headers = ("slower by", "right", "open", "wrong", "half of the interval", "pairs", "a duel")
    rows = []
    for more, duels in found.items():
        right = sum(one.says == -1 for one in duels) if more else 0
        still_open = sum(one.says == 0 for one in duels)
        half = statistics.median((one.high - one.low) / 2 / one.ratio for one in duels)
        rows.append(
            (
                f"{more:.0%}",
                f"{right} of {len(duels)}" if more else "",
                str(still_open),
                str(len(duels) - right - still_open),
                f"{half:.2%}",
                f"{statistics.median(one.pairs for one in duels):.0f}",
                seconds_text(statistics.median(one.took_s for one in duels)),
            )
        )
    return table(headers, rows, right=headers[1:])


def deviation(same: Sequence[Dueled]) -> float:
    """How far the ratios of a kernel to itself lie from 1."""
    return math.sqrt(statistics.fmean(math.log(one.ratio) ** 2 for one in same))


def _ignore(event: ProgressEvent) -> None:
    """Progress is for people."""


if __name__ == "__main__":
    main()
