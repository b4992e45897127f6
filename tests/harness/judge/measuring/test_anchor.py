"""The anchor: what its times do to samples, and how it is called, for real, in the sandbox."""

import statistics
from dataclasses import replace

import pytest

from kernelbot.harness.host.host import Host
from kernelbot.harness.inside.cage.loader import shared_files
from kernelbot.harness.judge.build.compile import CompilerProduct, compile_job
from kernelbot.harness.judge.measuring.anchor import EVERY, drift_factors
from kernelbot.harness.sandbox import RunnerClient, Zygote
from kernelbot.harness.words.sandbox import Flavour, ZygoteConfig
from kernelbot.protocol import (
    BuildConfig,
    Fault,
    JobSpec,
    Lang,
    Mode,
    Phase,
    ProgressEvent,
    RunResult,
    SourceFile,
    Verdict,
    WorkloadResult,
)
from kernelbot.protocol.scoring import SAMPLES_PER_FACTOR, steady_samples
from tests.harness.jobs import SORT, a_job, a_problem


def quiet(_event: ProgressEvent) -> None:
    return


def anchored(anchor: str, submission: str = SORT) -> JobSpec:
    job = a_job(submission, mode=Mode.BENCHMARK)
    files = (*job.problem.files, SourceFile("anchor.py", anchor))
    return replace(job, problem=replace(job.problem, files=files, anchor="anchor.py"))


def timed(result: RunResult) -> WorkloadResult:
    """The workload that was timed. Fails the test if none was."""
    assert (result.verdict, result.failure) == (Verdict.ACCEPTED, None)
    return result.phases[-1].workloads[0]


def slowing(of_ns: float, calls: int, every: int, by: float) -> list[float]:
    """A kernel's times on a machine that grows evenly slower, by the share `by` at the end."""
    return [of_ns * (1 + by * place * every / calls) for place in range(calls // every)]


def test_a_machine_as_fast_throughout_changes_nothing() -> None:
    assert (1.0,) * 3 == drift_factors([5000.0] * 15, 30)


def test_drift_cancels() -> None:
    samples = slowing(900.0, 200, 1, by=0.1)
    factors = drift_factors(slowing(5000.0, 200, EVERY, by=0.1), len(samples))
    steady = steady_samples(samples, factors)
    spread = (max(steady) - min(steady)) / statistics.median(steady)
    assert spread < 0.01 < (max(samples) - min(samples)) / statistics.median(samples)


def test_noise_of_the_anchor_does_not_change_the_median() -> None:
    anchor = [5000.0 * (1.02 if place % 2 else 0.98) for place in range(100)]
    samples = [900.0] * 200
    steady = steady_samples(samples, drift_factors(anchor, len(samples)))
    assert abs(statistics.median(steady) / 900.0 - 1) < 0.03


def test_a_disturbance_of_the_anchor_gains_a_tenth_at_most() -> None:
    anchor = [5000.0] * 55 + [50_000.0] * 45
    assert min(drift_factors(anchor, 200)) == pytest.approx(1 / 1.1)


def test_a_last_block_that_is_short_takes_the_calls_before_it() -> None:
    factors = drift_factors([100.0] * 5 + [105.0] * 6, 21)
    assert [1.05, 1.0, 1.0] == [round(factor, 3) for factor in factors]


@pytest.mark.timed
def test_the_anchor_is_timed_beside_the_submission(host: Host) -> None:
    workload = timed(host.judge(anchored(SORT), quiet))
    assert workload.anchor_ns is not None
    # The same kernel on the same machine in turn: far closer than a factor of two.
    assert 0.5 < workload.anchor_ns / workload.median_ns < 2


@pytest.mark.exhaustive  # each run has test_a_submission_can_not_include_the_anchor
def test_figures_are_of_the_samples_times_their_factors(host: Host) -> None:
    workload = timed(host.judge(anchored(SORT), quiet))
    assert len(workload.samples_ns) == SAMPLES_PER_FACTOR * len(workload.drift_factors)
    steady = steady_samples(workload.samples_ns, workload.drift_factors)
    assert (statistics.median(steady), min(steady)) == (workload.median_ns, workload.best_ns)


@pytest.mark.exhaustive  # each run has test_a_submission_can_neither_import_nor_read_the_anchor
def test_a_problem_without_an_anchor_is_measured_as_ever(host: Host) -> None:
    workload = timed(host.judge(a_job(SORT, mode=Mode.BENCHMARK), quiet))
    assert (None, ()) == (workload.anchor_ns, workload.drift_factors)
    assert statistics.median(workload.samples_ns) == workload.median_ns


def test_a_submission_can_neither_import_nor_read_the_anchor(host: Host) -> None:
    imports = host.judge(anchored(SORT, "import anchor\n" + SORT), quiet)
    reads = host.judge(anchored(SORT, "open('anchor.py')\n" + SORT), quiet)
    assert "No module named 'anchor'" in (imports.failure.message if imports.failure else "")
    assert "No such file" in (reads.failure.message if reads.failure else "")


def test_not_even_an_anchor_that_shared_files_name_is_shared() -> None:
    files = (
        SourceFile("task.py", "import anchor\n"),
        SourceFile("anchor.py", SORT),
    )
    spec = replace(a_problem(files=files), anchor="anchor.py")
    assert ["task.py"] == [file.name for file in shared_files(spec)]


@pytest.mark.parametrize(
    ("anchor", "said"),
    [
        ("def custom_kernel(data):\n    return data\n", "gives a wrong answer: not sorted"),
        ("def custom_kernel(data):\n    raise KeyError('x')\n", "failed: It failed"),
        ("def custom_kernel(data):\n    import os; os._exit(3)\n", "exit code 3"),
        ("def custom(data):\n    return data\n", "defines no function custom_kernel"),
        ("def custom_kernel(:\n", "SyntaxError"),
    ],
)
def test_a_broken_anchor_is_not_the_authors_fault(host: Host, anchor: str, said: str) -> None:
    result = host.judge(anchored(anchor), quiet)
    assert result.failure is not None
    assert (Verdict.INTERNAL_ERROR, Fault.PLATFORM) == (result.verdict, result.failure.fault)
    assert "The problem's anchor" in result.failure.message
    assert said in result.failure.message


@pytest.mark.exhaustive
@pytest.mark.timed
def test_the_anchors_time_is_not_the_authors(host: Host) -> None:
    """Fourteen calls of 0.3 s don't fit in a phase of 4 s, of which the author needs half a second:
    so much less that a busy machine doesn't matter."""
    slow = "import time, numpy as np\ndef custom_kernel(data):\n    time.sleep(0.3)\n"
    job = anchored(slow + "    return np.sort(data)\n")
    timeouts = replace(job.problem.timeouts, benchmark_s=4)
    result = host.judge(replace(job, problem=replace(job.problem, timeouts=timeouts)), quiet)
    assert 20 == len(timed(result).samples_ns)


_FILL = 'extern "C" void custom_kernel(float *data, float *output, long size) {\n'
_COPY = _FILL + "  for (long i = 0; i < size; i++) output[i] = data[i];\n}\n"


def compiled(submission: str, anchor: str) -> JobSpec:
    """A C++ problem whose kernel copies, with an anchor that does too."""
    reference = """
import numpy as np
def generate_input(size, seed):
    data = np.random.default_rng(seed).standard_normal(size).astype(np.float32)
    return data, np.empty_like(data), size
def ref_kernel(data):
    return data[0]
def check_implementation(data, output):
    return bool(np.array_equal(data[0], output)), "differs"
"""
    job = a_job(submission, mode=Mode.BENCHMARK)
    problem = replace(
        a_problem(reference=reference, files=(SourceFile("known.cpp", anchor),)),
        lang=Lang.CPP,
        config=BuildConfig(sources=("submission.cpp",), outputs=(1,)),
        submission_name="submission.cpp",
        anchor="known.cpp",
    )
    return replace(job, problem=problem)


@pytest.mark.exhaustive
def test_a_compiled_problem_has_a_compiled_anchor(host: Host) -> None:
    workload = timed(host.judge(compiled(_COPY, _COPY), quiet))
    assert workload.anchor_ns is not None
    assert workload.anchor_ns > 0


@pytest.mark.exhaustive  # each run has test_a_submission_can_not_include_the_anchor
def test_an_anchor_that_does_not_compile_is_not_the_authors_fault(host: Host) -> None:
    result = host.judge(compiled(_COPY, "custom_kernel"), quiet)
    assert (Verdict.INTERNAL_ERROR, Phase.TEST) == (result.verdict, result.phases[-1].phase)
    assert "anchor doesn't compile" in (result.failure.message if result.failure else "")


def test_a_submission_can_not_include_the_anchor() -> None:
    zygote = Zygote.start(ZygoteConfig(Flavour.BARE))
    try:
        zygote.wait_ready(60)
        client = RunnerClient(zygote.connect())
        build = compile_job(
            compiled('#include "known.cpp"\n', _COPY), client, CompilerProduct.SHARED_OBJECT
        )
        client.close()
    finally:
        zygote.close()
    assert Verdict.COMPILE_ERROR == build.verdict
