"""What a file compiles while it is imported has a limit of its own."""

import time
from dataclasses import replace

import pytest

from kernelbot.harness.host.host import Host
from kernelbot.harness.words.failures import (
    AuthorFailure,
    more_time_s,
    while_compiling,
    while_only_compiling,
    with_limit,
)
from kernelbot.protocol import (
    JobSpec,
    Limits,
    Mode,
    Phase,
    ProgressEvent,
    RunResult,
    SamplingRules,
    Timeouts,
    Verdict,
)
from tests.harness.jobs import SORT, a_job, a_problem


def judged(host: Host, job: JobSpec) -> RunResult:
    def quiet(_event: ProgressEvent) -> None:
        return

    return host.judge(job, quiet)


def importing(seconds: float, limits: Timeouts, mode: Mode = Mode.TEST) -> JobSpec:
    source = f"import time\ntime.sleep({seconds})\n{SORT}"
    return a_job(source, mode=mode, problem=a_problem(timeouts=limits))


@pytest.mark.exhaustive  # each run has test_importing_has_its_own_limit
def test_importing_takes_none_of_the_test_phases_time(host: Host) -> None:
    result = judged(host, importing(2.1, Timeouts(test_s=2, compile_s=20)))
    assert (Verdict.ACCEPTED, None) == (result.verdict, result.failure)


def test_importing_has_its_own_limit(host: Host) -> None:
    result = judged(host, importing(60, Timeouts(test_s=20, compile_s=0.3)))
    assert Verdict.TIME_LIMIT == result.verdict
    assert result.failure is not None
    assert result.failure.message.startswith(
        "Importing the submission took longer than the compile limit of 0.3 s, over all phases. "
        "Compile less at import, or ask"
    )


@pytest.mark.exhaustive  # each run has test_importing_has_its_own_limit
def test_which_is_of_all_phases_together(host: Host) -> None:
    limits = Timeouts(test_s=60, ranked_s=60, compile_s=4.0)  # for one, and not for two
    result = judged(host, importing(2.1, limits, Mode.LEADERBOARD))
    assert [(Phase.TEST, Verdict.ACCEPTED), (Phase.LEADERBOARD, Verdict.TIME_LIMIT)] == [
        (phase.phase, phase.verdict) for phase in result.phases
    ]


@pytest.mark.exhaustive
def test_but_of_several_processes_of_a_phase_the_first_ones(host: Host) -> None:
    limits = Timeouts(test_s=60, ranked_s=600, compile_s=3.9)  # for two, and not for all four
    job = importing(1.0, limits, Mode.LEADERBOARD)
    three = SamplingRules(
        min_samples=20, max_samples=20, wall_cap_s=5.0, patience_s=600.0, processes=3
    )
    result = judged(host, replace(job, sampling=three))
    assert result.failure is None, result.failure
    assert [3] == [load.processes for load in result.phases[-1].workloads]


def test_a_limit_names_how_long_a_processor_was_waited_for() -> None:
    waiting = late_after(4.0)
    said = " It waited 4.0 s of that for a processor: the machine was busy"
    assert said in with_limit(waiting, Phase.TEST, 20, deadline=0.0).message
    assert said in while_compiling(waiting, 20, deadline=0.0).message


def test_unless_that_was_a_small_part_of_it() -> None:
    assert "waited" not in with_limit(late_after(1.9), Phase.TEST, 20, deadline=0.0).message


@pytest.mark.parametrize("begins", ["The test phase", "Importing the submission"])
def test_a_limit_that_others_used_up_is_disputable_and_nobodys_fault(begins: str) -> None:
    late = late_after(16.0)
    late.kept_waiting_s = 10.1
    found = {
        "The test phase": with_limit(late, Phase.TEST, 20, deadline=0.0),
        "Importing the submission": while_compiling(late, 20, deadline=0.0),
    }[begins]
    assert (True, begins) == (found.disputable, found.excuse[: len(begins)])
    assert found.excuse.endswith(
        ", but other programs had its processor for 10.1 s of the 20.0 s that it had: the machine "
        "was busy, which is nobody's fault. Submit it again later."
    )


def test_but_not_one_that_its_own_threads_used_up() -> None:
    late = late_after(16.0)
    late.kept_waiting_s = 10.0
    found = with_limit(late, Phase.TEST, 20, deadline=0.0)
    assert (False, "") == (found.disputable, found.excuse)


def excused(kept_waiting_s: float, had_s: float = 0.0) -> AuthorFailure:
    """Of a phase of 20 s."""
    late = late_after(kept_waiting_s)
    late.kept_waiting_s, late.had_s = kept_waiting_s, had_s
    return with_limit(late, Phase.TEST, 20, deadline=0.0)


@pytest.mark.parametrize(("kept_waiting_s", "expected"), [(10.0, 0.0), (10.1, 100.0)])
def test_a_second_attempt_has_more_time_if_others_used_up_the_first(
    kept_waiting_s: float, expected: float
) -> None:
    assert expected == more_time_s(excused(kept_waiting_s))


def test_who_computes_for_longer_than_the_limit_exceeds_it_however_long_it_waited() -> None:
    assert (False, True) == (excused(59.0, 80.0).disputable, excused(61.0, 80.0).disputable)
    assert "It waited 59.0 s of the 80.0 s that it had the second time" in (
        excused(59.0, 80.0).message
    )


def test_a_second_attempt_exceeds_its_limit_before_the_deadline() -> None:
    late = late_after(59.0)
    late.kept_waiting_s, late.had_s = 59.0, 79.1
    found = with_limit(late, Phase.TEST, 20, deadline=time.monotonic() + 600)
    assert found.message.startswith("The test phase took longer than its time limit of 20 s.")


def test_another_failure_stays_as_it_is() -> None:
    wrong = AuthorFailure(Verdict.WRONG_ANSWER, "wrong")
    assert wrong is while_compiling(wrong, 20, deadline=0.0)


def late_after(waited_s: float) -> AuthorFailure:
    late = AuthorFailure(Verdict.TIME_LIMIT, "late")
    late.waited_s = waited_s
    return late


@pytest.mark.parametrize(
    ("verdict", "said"),
    [
        (Verdict.TIME_LIMIT, "Compiling was not done after 20 s. Unroll less"),
        (Verdict.MEMORY_LIMIT, "Compiling needed more than 1024 MiB of memory. Unroll less"),
    ],
)
def test_who_only_compiles_is_told_of_compiling(verdict: Verdict, said: str) -> None:
    late = AuthorFailure(verdict, "of a phase", "seen")
    found = while_only_compiling(late, 20, Limits(memory_bytes=1 << 30))
    assert (verdict, True, "seen") == (
        found.verdict,
        found.message.startswith(said),
        found.evidence,
    )


def test_other_failures_are_what_they_were() -> None:
    wrong = AuthorFailure(Verdict.RUNTIME_ERROR, "raised")
    assert wrong is while_only_compiling(wrong, 20, Limits())
