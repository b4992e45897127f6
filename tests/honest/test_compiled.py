"""Compiled kernels, whose outputs the harness allocates."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from kernelbot.harness.host.host import Host
from kernelbot.protocol import BuildConfig, Case, Failure, Lang, Mode, ProgressEvent, Verdict
from tests.harness.jobs import a_job, a_problem
from tests.support.exhaustive import cases

_REFERENCE = """
import numpy as np
def generate_input(size, seed):
    data = np.random.default_rng(seed).standard_normal(size, dtype=np.float32)
    return data, np.empty_like(data), size
def ref_kernel(data):
    return data[0]
def check_implementation(data, output):
    return bool(np.array_equal(data[0], output)), "differs"
"""
_COPY = """
extern "C" void custom_kernel(const float *data, float *output, long size) {
  for (long i = 0; i < size; i++) output[i] = data[i];
}
"""
_SPINNING_HELPER = """
#include <atomic>
#include <thread>
static std::atomic<long> turn{0}, done{0};
static const float *from;
static float *to;
static long half, size_of_all;
static void help() {
  for (long seen = 0;;) {
    long now;
    while ((now = turn.load()) == seen) {}
    seen = now;
    for (long i = half; i < size_of_all; i++) to[i] = from[i];
    done.store(now);
  }
}
extern "C" void custom_kernel(const float *data, float *output, long size) {
  static bool started = (std::thread(help).detach(), true);
  (void)started;
  from = data, to = output, half = size / 2, size_of_all = size;
  long now = ++turn;
  for (long i = 0; i < half; i++) output[i] = data[i];
  while (done.load() != now) {}
}
"""


@pytest.fixture(scope="module")
def host() -> Iterator[Host]:
    made = Host()
    yield made
    made.close()


def quiet(_event: ProgressEvent) -> None:
    return


@pytest.mark.timed
@pytest.mark.parametrize("size", cases([1 << 16, 1 << 19, 1 << 20, 1 << 22], always=[1 << 20]))
def test_an_output_of_any_size_is_accepted(host: Host, size: int) -> None:
    """From 2 MB on, allocating it was taken for the author's work before the call."""
    assert (Verdict.ACCEPTED, None) == judged(host, _COPY, size)


@pytest.mark.timed
@pytest.mark.exhaustive
def test_a_helper_that_spins_while_idle_is_accepted(host: Host) -> None:
    """On a busy machine its spinning was taken for work before the call."""
    assert (Verdict.ACCEPTED, None) == judged(host, _SPINNING_HELPER, 1 << 16)


def judged(host: Host, source: str, size: int) -> tuple[Verdict, Failure | None]:
    problem = replace(
        a_problem(reference=_REFERENCE),
        lang=Lang.CPP,
        config=BuildConfig(sources=("submission.cpp",), outputs=(1,)),
        submission_name="submission.cpp",
        benchmarks=(Case({"size": size, "seed": 7}),),
    )
    result = host.judge(replace(a_job(source, mode=Mode.LEADERBOARD), problem=problem), quiet)
    return result.verdict, result.failure
