"""Does the judge read the right time? Kernels of known times are judged, and the table compares.

    python -m benchmarks.accuracy [--ways cpp numpy torch] [--us 1 3 10 ...] [--judgements N]

A kernel of known time spins until the processor's clock has moved far enough. The truth is what it
measures itself, between its first statement and its last, in the mean of its calls; the reading
is the median that a ranked submission is scored by. What it does beside that, and what the judge
can't tell from the kernel's work, is the error.
"""

import argparse
import re
from collections.abc import Sequence
from dataclasses import dataclass

from kernelbot.harness.host.host import Host
from kernelbot.protocol import (
    BuildConfig,
    Case,
    DeviceSpec,
    HarnessKind,
    JobSpec,
    Lang,
    Mode,
    Phase,
    ProblemSpec,
    ProgressEvent,
    RankRule,
    RunResult,
    SamplingRules,
    SourceFile,
    Vendor,
    Verdict,
)
from kernelbot.render.table import table
from kernelbot.render.units import time_text

TIMES_US = (1, 3, 10, 30, 100, 1_000, 10_000, 100_000)
CPU = DeviceSpec("CPU", Vendor.CPU)
SAMPLING = SamplingRules(max_samples=200)
_REFERENCE = """
import {framework}
def generate_input(ns, seed):
    return {make}([ns]), {make}([seed])
def ref_kernel(data):
    return data[1]
def check_implementation(data, output):
    return True, ""
"""
_PYTHON = """
import statistics, time
clock, took, last = time.perf_counter_ns, [], 0
def show(ns):
    half = took[len(took) // 2:]
    most = 300_000 + 1.5 * statistics.median(half)
    print("truth", ns, int(statistics.fmean(one for one in half if one < most)))
def custom_kernel(data):
    global last
    start = clock()
    ns = int(data[0][0])
    while (now := clock()) - start < ns:
        pass
    if ns != last:
        took.clear()
        last = ns
    took.append(now - start)
    count = len(took)
    if count >= 4 and count & count - 1 == 0:
        show(ns)
    return data[1]
"""
_CPP = """
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <vector>

static struct { int64_t calls, ns; } seen;
static int64_t took[1 << 16];

static inline int64_t now() {
    timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return int64_t(time.tv_sec) * 1000000000 + time.tv_nsec;
}

static void __attribute__((noinline)) show() {
    std::vector<int64_t> half(took + seen.calls / 2, took + seen.calls);
    std::sort(half.begin(), half.end());
    int64_t most = 300000 + 3 * half[half.size() / 2] / 2, sum = 0, count = 0;
    for (int64_t one : half)
        if (one < most)
            sum += one, count++;
    printf("truth %ld %ld\\n", long(seen.ns), long(sum / count));
    fflush(stdout);
}

extern "C" void custom_kernel(const int64_t* ns, int64_t* out) {
    int64_t start = now(), last;
    while ((last = now()) - start < *ns) {
    }
    *out = last - start;
    if (seen.ns != *ns) {
        seen.ns = *ns;
        seen.calls = 0;
    }
    took[seen.calls++ & 65535] = last - start;
    if (seen.calls >= 4 && (seen.calls & (seen.calls - 1)) == 0)
        show();
}
"""
"""After four calls, and whenever there are twice as many, a kernel prints the mean of the second
half, without those in which it was interrupted; the first of a window, which is cold, is none. So
few calls change no median."""


@dataclass(frozen=True)
class Way:
    """A kind of kernel, and how far its reading may be from the truth on a quiet machine."""

    name: str
    lang: Lang
    framework: str
    source: str
    allowed_ns: float
    allowed_share: float


WAYS = (
    Way("C++", Lang.CPP, "numpy", _CPP, 1_000, 0.01),
    Way("NumPy", Lang.PY, "numpy", _PYTHON, 5_000, 0.02),
    Way("torch", Lang.PY, "torch", _PYTHON, 5_000, 0.02),
)
_MAKE = {"numpy": "numpy.array", "torch": "torch.tensor"}


@dataclass(frozen=True)
class Reading:
    """One known time: as its kernel measured it, and as the judge did."""

    way: Way
    truth_ns: float
    read_ns: float
    half_width_ns: float
    """Of the reading's 95 % interval."""
    samples: int

    @property
    def error_ns(self) -> float:
        """What was read too much."""
        return self.read_ns - self.truth_ns

    @property
    def is_true(self) -> bool:
        """Whether the error is within what is allowed."""
        allowed_ns = self.way.allowed_ns + self.way.allowed_share * self.truth_ns
        return abs(self.error_ns) <= allowed_ns


def job(way: Way, times_us: Sequence[float]) -> JobSpec:
    """A ranked run of a kernel that spins, with a workload for each time."""
    name = "submission.py" if way.lang is Lang.PY else "submission.cpp"
    reference = _REFERENCE.format(framework=way.framework, make=_MAKE[way.framework])
    cases = tuple(Case({"ns": int(us * 1e3), "seed": 1}) for us in times_us)
    problem = ProblemSpec(
        name="spin",
        lang=way.lang,
        harness=HarnessKind.NATIVE,
        harness_reason="to compare",
        files=(SourceFile("reference.py", reference),),
        submission_name=name,
        config=BuildConfig(compile_flags=() if way.lang is Lang.PY else ("-O2",)),
        tests=cases[:1],
        benchmarks=cases,
        ranking_by=RankRule.GEOM,
    )
    return JobSpec(
        job_id="accuracy",
        problem=problem,
        submission=SourceFile(name, way.source),
        mode=Mode.LEADERBOARD,
        device=CPU,
        sampling=SAMPLING,
    )


def readings(way: Way, result: RunResult) -> list[Reading]:
    """What a run has shown. Raises RuntimeError if it wasn't accepted."""
    if result.verdict is not Verdict.ACCEPTED:
        raise RuntimeError(f"{way.name} ended as {result.verdict}: {result.failure}")
    told = re.findall(r"^truth (\d+) (\d+)$", result.stdout, re.MULTILINE)
    truths = {int(ns): float(took) for ns, took in told}
    found = []
    for load in next(p for p in result.phases if p.phase is Phase.LEADERBOARD).workloads:
        ns = int(load.spec.split(";")[0].removeprefix("ns: "))
        low, high = load.ci95_ns
        half_ns = (high - low) / 2
        found.append(Reading(way, truths[ns], load.median_ns, half_ns, len(load.samples_ns)))
    return found


def accuracy_table(rows: Sequence[Reading]) -> str:
    """A line for each known time."""
    headers = ("kernel", "truth", "read", "error", "interval +-", "samples", "")
    lines = [
        (
            row.way.name,
            time_text(row.truth_ns),
            time_text(row.read_ns),
            f"{row.error_ns / 1e3:+.2f} µs",
            f"{row.half_width_ns / row.read_ns:.1%}",
            str(row.samples),
            "" if row.is_true else "too far",
        )
        for row in rows
    ]
    return table(headers, lines, right=headers[1:6])


def main() -> None:
    """Judge and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--ways", nargs="+", default=[way.name for way in WAYS])
    parser.add_argument("--us", nargs="+", type=float, default=TIMES_US)
    parser.add_argument("--judgements", type=int, default=1)
    options = parser.parse_args()
    host = Host()
    rows = []
    try:
        for way in (way for way in WAYS if way.name in options.ways):
            for _ in range(options.judgements):
                rows += readings(way, host.judge(job(way, options.us), _ignore))
    finally:
        host.close()
    print(accuracy_table(rows))
    far = sum(not row.is_true for row in rows)
    print(f"\n{len(rows) - far} of {len(rows)} readings are within 1 µs + 1 % (C++), 5 µs + 2 %.")


def _ignore(_event: ProgressEvent) -> None:
    """Progress is for people."""


if __name__ == "__main__":
    main()
