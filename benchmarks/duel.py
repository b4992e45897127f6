"""Which of two kernels is faster, by a duel and by two scores, on a machine that isn't quiet. How
often is the answer right, and how many samples does it take?

Run with `python -m benchmarks.duel [--noise bursts|drift|none] [--judgements 6] [--samples 60]`. A
C++ kernel does 1, 2 and 5 % more work than another. Each is judged alone, again and again, and in
duels with the other, all in random order. Then stretches of consecutive samples are compared: those
of two judgements by their medians, pairs by the median of their ratios.

Noise is `bursts`: two processes compute and copy memory for a while, and sleep for a while; or
`drift`: every five seconds the machine has another speed, so that calls take up to half as long
again. This is simulated: both kernels do that much more work.
"""

import argparse
import contextlib
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

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
    RunResult,
    SamplingRules,
    SourceFile,
    Timeouts,
    Vendor,
    Verdict,
)
from kernelbot.render.table import table

MORE = (0.01, 0.02, 0.05)
"""By how much the slower kernel does more."""
WRONG = 0.05
"""Samples are enough if no more answers than this are wrong."""
COUNTS = (3, 5, 10, 20, 40, 80, 120, 200, 400, 800)
TRIES = 2000
"""Comparisons by which the share of wrong answers is estimated."""
ROUNDS = 4000
DRIFT = 0.5
"""How much slower at most: scores then deviate by some 15 %, as decision 28 has them measured."""
SIZE = 4096
REFERENCE = """
import numpy as np
def generate_input(size, seed):
    values = np.random.default_rng(seed).standard_normal(size).astype(np.float32)
    return values, np.zeros(size, np.float32), size
def ref_kernel(data):
    return data[0]
def check_implementation(data, output):
    return bool(np.array_equal(output, data[0])), "not copied"
"""
KERNEL = """
#include <cstdint>
#include <time.h>
static double slowness() {  // another one every five seconds, from 0 to 1
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    uint64_t mixed = (now.tv_sec / 5 + 1) * 0x9E3779B97F4A7C15u;
    mixed = (mixed ^ (mixed >> 31)) * 0xBF58476D1CE4E5B9u;
    return (mixed >> 11) / 9007199254740992.0;
}
extern "C" void custom_kernel(const float* in, float* out, int64_t size) {
    const int64_t rounds = ROUNDS * (1 + DRIFT * slowness());
    for (int64_t i = 0; i < size; ++i) out[i] = in[i];
    volatile float sum = 0;
    for (int64_t round = 0; round < rounds; ++round)
        for (int64_t i = 0; i < 64; ++i) sum = sum + in[(round * 64 + i) % size];
}
"""
NOISE = """
import random, time
def stretch_s():
    return 0.1 * 80 ** random.random()
while True:
    block, until = bytearray(8 << 20), time.monotonic() + stretch_s()
    while time.monotonic() < until:
        block = bytearray(block)
    time.sleep(stretch_s())
"""
"""Computes and copies memory for 0.1 to 8 s, and then sleeps for as long."""

Pair = tuple[float, float]
T = TypeVar("T")


@dataclass
class Measured:
    """Samples in ns, by how much more work a kernel does than the first one."""

    alone: dict[float, list[Sequence[float]]] = field(default_factory=lambda: defaultdict(list))
    duels: dict[float, list[Sequence[Pair]]] = field(default_factory=lambda: defaultdict(list))
    """Pairs of the first kernel's time and the other's."""


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--noise", choices=("bursts", "drift", "none"), action="append")
    parser.add_argument("--judgements", type=int, default=6, help="of each kind")
    parser.add_argument("--samples", type=int, default=60, help="of each judgement")
    options = parser.parse_args()
    for noise in options.noise or ("bursts", "drift"):
        report(noise, options.judgements, options.samples)


def report(noise: str, judgements: int, samples: int) -> None:
    """Print the table of one kind of noise."""
    began = time.monotonic()
    with bursts(2) if noise == "bursts" else contextlib.nullcontext():
        measured = measure(judgements, samples, DRIFT if noise == "drift" else 0.0)
    took_s = time.monotonic() - began
    print(f"{judgements} judgements of each kind with noise: {noise}, in {took_s:.0f} s\n")
    print(f"{answers_table(measured, samples)}\n")


def measure(judgements: int, samples: int, drift: float) -> Measured:
    """Judge each kernel alone, and each slower one in duels with the first, in random order.

    Raises RuntimeError if one isn't accepted.
    """
    jobs = [(False, more) for more in (0.0, *MORE)] + [(True, more) for more in MORE]
    order = random.sample(jobs * judgements, len(jobs) * judgements)
    measured = Measured()
    with tempfile.TemporaryDirectory() as cache, contextlib.closing(Host(1, Path(cache))) as host:
        for number, (is_duel, more) in enumerate(order, 1):
            result = host.judge(job_of(number, samples, more, drift, is_duel=is_duel), _ignore)
            if result.verdict is not Verdict.ACCEPTED:
                raise RuntimeError(f"judgement {number}: {result.verdict}, {result.failure}")
            _keep(measured, result, more)
            sys.stderr.write(f"\r{number} of {len(order)}")
    sys.stderr.write("\n")
    return measured


def _keep(measured: Measured, result: RunResult, more: float) -> None:
    if result.duel is None:
        measured.alone[more].append(result.phases[-1].workloads[-1].samples_ns)
    else:
        load = result.duel.workloads[-1]
        pairs = zip(load.submission_ns, load.opponent_ns, strict=True)
        measured.duels[more].append(list(pairs))


def job_of(number: int, samples: int, more: float, drift: float, *, is_duel: bool) -> JobSpec:
    """A judgement with exactly so many samples. In a duel the first kernel is the submission."""
    slower, first = kernel(more, drift), kernel(0.0, drift)
    return JobSpec(
        job_id=f"duel-{number}",
        problem=PROBLEM,
        submission=first if is_duel else slower,
        opponent=slower if is_duel else None,
        mode=Mode.LEADERBOARD if is_duel else Mode.BENCHMARK,
        device=DeviceSpec("CPU", Vendor.CPU),
        sampling=SamplingRules(
            min_samples=samples, max_samples=samples, wall_cap_s=600.0, patience_s=600.0
        ),
    )


def kernel(more: float, drift: float) -> SourceFile:
    """One that does so much more work than the first."""
    text = KERNEL.replace("ROUNDS", str(round(ROUNDS * (1 + more))))
    return SourceFile(PROBLEM.submission_name, text.replace("DRIFT", str(drift)))


@dataclass(frozen=True)
class Scores:
    """Comparing the medians of two judgements."""

    first: Sequence[Sequence[float]]
    slower: Sequence[Sequence[float]]

    def is_wrong(self, source: random.Random, count: int) -> bool:
        """Whether `count` samples of each give the wrong answer."""
        one = statistics.median(stretch(source, self.first, count))
        return one >= statistics.median(stretch(source, self.slower, count))


@dataclass(frozen=True)
class Duels:
    """Looking at the median ratio of a duel's pairs."""

    pairs: Sequence[Sequence[Pair]]

    def is_wrong(self, source: random.Random, count: int) -> bool:
        """Whether `count` pairs give the wrong answer."""
        ratios = [one / other for one, other in stretch(source, self.pairs, count)]
        return statistics.median(ratios) >= 1


def stretch(source: random.Random, among: Sequence[Sequence[T]], count: int) -> Sequence[T]:
    """`count` consecutive samples of one judgement."""
    samples = source.choice(among)
    start = source.randrange(len(samples) - count + 1)
    return samples[start : start + count]


def wrong_share(way: Scores | Duels, count: int) -> float:
    """The share of wrong answers with so many samples."""
    source = random.Random(1)
    return sum(way.is_wrong(source, count) for _ in range(TRIES)) / TRIES


def fewest(way: Scores | Duels, most: int) -> int | None:
    """The smallest count from which on answers are wrong seldom enough; None if none is."""
    found = None
    for count in reversed([*(count for count in COUNTS if count < most), most]):
        if wrong_share(way, count) > WRONG:
            return found
        found = count
    return found


def answers_table(measured: Measured, samples: int) -> str:
    """Wrong answers with few and with all samples, and the samples that are enough."""
    headers = ("slower by", "compared by", "wrong with 10", f"with {samples}", "enough", "fewer")
    rows = []
    for more in MORE:
        scores = Scores(measured.alone[0.0], measured.alone[more])
        duels = Duels(measured.duels[more])
        enough, enough_pairs = fewest(scores, samples), fewest(duels, samples)
        gain = _gain(enough, enough_pairs, samples)
        rows.append((f"{more:.0%}", "two scores", *_row(scores, enough, samples), ""))
        rows.append(("", "a duel", *_row(duels, enough_pairs, samples), gain))
    return table(headers, rows, right=headers[2:])


def _row(way: Scores | Duels, enough: int | None, samples: int) -> tuple[str, ...]:
    shares = [f"{wrong_share(way, count):.1%}" for count in (min(10, samples), samples)]
    return (*shares, str(enough) if enough else f"over {samples}")


def _gain(scores: int | None, duel: int | None, samples: int) -> str:
    """How many times fewer samples a duel takes."""
    if duel is None:
        return ""
    return f"{scores / duel:.3g} x" if scores else f"over {samples / duel:.3g} x"


@contextlib.contextmanager
def bursts(processes: int) -> Iterator[None]:
    """Processes that do other work in bursts."""
    command = [sys.executable, "-c", NOISE]
    noisy = [subprocess.Popen(command) for _ in range(processes)]
    try:
        yield
    finally:
        for process in noisy:
            process.kill()
            process.wait()


def _ignore(event: ProgressEvent) -> None:
    """Progress is for people."""


PROBLEM = ProblemSpec(
    name="work",
    lang=Lang.CPP,
    harness=HarnessKind.NATIVE,
    harness_reason="the reference offers both functions",
    files=(SourceFile("reference.py", REFERENCE),),
    submission_name="submission.cpp",
    config=BuildConfig(sources=("submission.cpp",), outputs=(1,)),
    tests=(Case({"size": 100, "seed": 1}),),
    benchmarks=(Case({"size": SIZE, "seed": 2}),),
    timeouts=Timeouts(600.0, 600.0, 600.0),
)

if __name__ == "__main__":
    main()
