"""Duels through the real harness: two authors' runners in one job."""

from dataclasses import replace

import pytest

from kernelbot.harness.host.host import Host
from kernelbot.protocol import (
    BuildConfig,
    Case,
    DuelResult,
    EventKind,
    Fault,
    HarnessKind,
    Lang,
    Mode,
    Phase,
    ProblemSpec,
    ProgressEvent,
    RankRule,
    RunResult,
    SamplingRules,
    SourceFile,
    Timeouts,
    Verdict,
)
from tests.harness.jobs import REFERENCE, SORT, a_job, a_problem
from tests.support.exhaustive import cases

FEW = SamplingRules(min_samples=10, max_samples=10, wall_cap_s=5.0, warmup_s=0.0)
UNSORTED = "def custom_kernel(data):\n    return data.copy()\n"
UNSORTED_LATER = (
    SORT
    + """
right, calls = custom_kernel, []
def custom_kernel(data):
    calls.append(1)
    return right(data) if len(calls) < 4 else data.copy()
"""
)
BUILDS = (
    """
from pathlib import Path
builds = Path.home() / ".cache/torch_extensions"
if builds.exists():
    assert [path.name for path in builds.iterdir()] == ["WHO"]
    print("found")
else:
    builds.mkdir(parents=True)
    (builds / "WHO").write_text("a library")
    print("built")
"""
    + SORT
)
COPY_REFERENCE = """
import numpy as np
def generate_input(size, seed):
    values = np.random.default_rng(seed).standard_normal(size).astype(np.float32)
    return values, np.zeros(size, np.float32), size
def ref_kernel(data):
    return data[0]
def check_implementation(data, output):
    return bool(np.array_equal(output, data[0])), "not copied"
"""
COPY = """
#include <cstdint>
extern "C" void custom_kernel(const float* in, float* out, int64_t size) {
    for (int64_t i = 0; i < size; ++i) out[i] = in[i];
}
"""


def duel(
    host: Host,
    submission: str,
    opponent: str,
    problem: ProblemSpec | None = None,
    events: list[ProgressEvent] | None = None,
) -> RunResult:
    job = a_job(submission, mode=Mode.LEADERBOARD, problem=problem)
    job = replace(job, opponent=SourceFile("b.py", opponent), sampling=FEW)
    return host.judge(job, (events if events is not None else []).append)


def test_both_are_timed_on_each_workload_and_there_is_no_score(host: Host) -> None:
    events: list[ProgressEvent] = []
    found = duel(host, SORT, SORT, a_problem(ranking_by=RankRule.GEOM), events)
    assert (Verdict.ACCEPTED, None, False) == (found.verdict, found.score_s, found.opponent_failed)
    assert [(Phase.TEST, False), (Phase.TEST, True), (Phase.LEADERBOARD, False)] == [
        (phase.phase, phase.of_opponent) for phase in found.phases
    ]
    tested = [event.of_opponent for event in events if event.kind is EventKind.CASE]
    assert tested in ([False] * 3 + [True] * 3, [True] * 3 + [False] * 3)  # by chance
    assert isinstance(found.duel, DuelResult)
    assert [("size: 2000; seed: 1", 10, 10), ("size: 5000; seed: 2", 10, 10)] == [
        (one.spec, len(one.submission_ns), len(one.opponent_ns)) for one in found.duel.workloads
    ]
    low, high = found.duel.ratio_ci95
    assert low <= found.duel.ratio <= high
    assert 2 == sum(event.kind is EventKind.WORKLOAD for event in events)


@pytest.mark.exhaustive  # each run has those of test_recurring_data.py
@pytest.mark.parametrize(
    ("knows", "verdict"), [(False, Verdict.INTERNAL_ERROR), (True, Verdict.ACCEPTED)]
)
def test_data_that_recur_decide_nothing(host: Host, knows: bool, verdict: Verdict) -> None:
    """A kernel that remembers its answers would beat one that doesn't."""
    reference = REFERENCE.replace("(size, seed)", "(size, seed=7)")
    problem = replace(a_problem(reference=reference), recurring_data=knows)
    problem = replace(problem, benchmarks=(Case({"size": 2000}),), tests=(Case({"size": 64}),))
    found = duel(host, SORT, SORT, problem)
    assert (verdict, knows) == (found.verdict, found.duel is not None)
    assert knows == ("recurs (size: 2000)" not in found.recurring_data)


@pytest.mark.exhaustive  # each run has test_both_are_timed_on_each_workload_and_there_is_no_score
@pytest.mark.parametrize(
    "bad",
    cases(
        [UNSORTED, UNSORTED_LATER, "def custom_kernel(\n", "import os\nos._exit(3)\n", ""],
        always=[UNSORTED_LATER],
    ),
)
def test_whoever_fails_is_named(host: Host, bad: str) -> None:
    first, second = duel(host, bad, SORT), duel(host, SORT, bad)
    assert (False, True, None, None) == (
        first.opponent_failed,
        second.opponent_failed,
        first.duel,
        second.duel,
    )
    assert first.verdict == second.verdict != Verdict.ACCEPTED
    assert first.failure == second.failure
    assert first.failure is not None
    assert Fault.AUTHOR == first.failure.fault


@pytest.mark.timed
@pytest.mark.exhaustive  # each run has test_both_are_timed_on_each_workload_and_there_is_no_score
@pytest.mark.parametrize(("slow", "is_opponent"), [(0, False), (1, True)])
def test_whoever_used_up_the_time_is_named(host: Host, slow: int, is_opponent: bool) -> None:
    """Not whoever was called when it was over."""
    sources = [SORT.replace("    return", "    time.sleep(0.2)\n    return")] * 2
    sources[slow] = sources[slow].replace("(0.2)", "(0.8)")
    problem = a_problem(timeouts=Timeouts(test_s=20, benchmark_s=1.5, ranked_s=1.5))
    first, second = ("import time\n" + source for source in sources)
    found = duel(host, first, second, problem)
    assert (Verdict.TIME_LIMIT, is_opponent) == (found.verdict, found.opponent_failed)


@pytest.mark.exhaustive
def test_what_each_has_built_in_its_test_is_there_when_it_is_timed(host: Host) -> None:
    """As in an ordinary run. Each finds its own only."""
    mine, theirs = (BUILDS.replace("WHO", who) for who in ("mine", "theirs"))
    found = duel(host, mine, theirs)
    assert (Verdict.ACCEPTED, "built\nfound\n") == (found.verdict, found.stdout)


@pytest.mark.exhaustive  # each run has test_both_are_timed_on_each_workload_and_there_is_no_score
def test_what_the_opponent_prints_is_for_nobody_else_to_read(host: Host) -> None:
    found = duel(host, "print('mine')\n" + SORT, "print('theirs')\n" + SORT)
    assert ("mine\nmine\n", Verdict.ACCEPTED) == (found.stdout, found.verdict)  # in each phase


@pytest.mark.exhaustive
def test_neither_finds_anything_of_the_other(host: Host) -> None:
    """No file, no process, no memory: each has a sandbox of its own."""
    leaves = "import os\nopen('/tmp/note', 'w').write('x')\nopen('/dev/shm/note', 'w')\n" + SORT
    looks = (
        "import os\n"
        "def others():\n"
        "    return [p for p in os.listdir('/proc') if p.isdigit()]\n"
        "count = len(others())\n"
        + SORT.replace(
            "    return",
            "    assert not os.path.exists('/tmp/note') and not os.path.exists('/dev/shm/note')\n"
            "    assert len(others()) == count\n    return",
        )
    )
    assert Verdict.ACCEPTED == duel(host, leaves, looks).verdict
    assert Verdict.ACCEPTED == duel(host, looks, leaves).verdict


@pytest.mark.exhaustive
def test_compiled_kernels(host: Host) -> None:
    problem = replace(
        a_problem(reference=COPY_REFERENCE),
        lang=Lang.CPP,
        submission_name="submission.cpp",
        config=BuildConfig(sources=("submission.cpp",), outputs=(1,)),
    )
    good = duel(host, COPY, COPY.replace("in[i]", "in[i] + 0"), problem)
    bad = duel(host, COPY, "int x = ;\n", problem)
    assert (Verdict.ACCEPTED, True) == (good.verdict, good.duel is not None), good.failure
    assert (Verdict.COMPILE_ERROR, True) == (bad.verdict, bad.opponent_failed)
    assert bad.compile is not None
    assert "int x = ;" not in bad.compile.output  # it is the submission's


@pytest.mark.exhaustive
def test_a_problem_with_a_script_of_its_own_has_none(host: Host) -> None:
    found = duel(host, SORT, SORT, replace(a_problem(), harness=HarnessKind.SCRIPT))
    assert found.failure is not None
    assert (Verdict.INTERNAL_ERROR, Fault.PLATFORM, False) == (
        found.verdict,
        found.failure.fault,
        found.opponent_failed,
    )
    assert "A duel needs a problem that is judged natively" in found.failure.message
