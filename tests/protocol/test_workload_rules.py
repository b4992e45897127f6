"""Which measurements a job allows: each bound on both of its sides, and what is said beyond it."""

import math
from dataclasses import replace
from typing import Any

import pytest

from kernelbot.protocol import (
    CaseResult,
    DuelResult,
    HarnessKind,
    JobSpec,
    Mode,
    Phase,
    PhaseResult,
    RunResult,
    SourceFile,
    Verdict,
    WorkloadResult,
)
from kernelbot.protocol.ratios import duel_result, duel_workload
from kernelbot.protocol.result_rules import held_to
from kernelbot.protocol.scoring import MAX_DRIFT, median_time, spread_of
from kernelbot.protocol.workload_rules import MOST_COUNTED, Disagrees
from tests.harness.jobs import SORT, a_job
from tests.support.honest import WITHIN_S, accepted

RANKED = a_job(SORT, mode=Mode.LEADERBOARD)
SAMPLING = replace(RANKED.sampling, min_samples=10, max_samples=20, processes=4)
NATIVE = replace(RANKED, sampling=SAMPLING)
ANCHORED = replace(NATIVE, problem=replace(NATIVE.problem, anchor="anchor.py"))
FEW = replace(NATIVE, sampling=replace(SAMPLING, min_samples=3))
SCRIPT = replace(NATIVE, problem=replace(NATIVE.problem, harness=HarnessKind.SCRIPT))
DUEL = replace(NATIVE, opponent=SourceFile("other.py", SORT))
US = 1000.0


def measured(job: JobSpec, **changes: Any) -> RunResult:
    """An accepted result whose ranked workload says this, with the figures of its samples."""
    result = accepted(NATIVE)
    last = result.phases[-1]
    load = replace(last.workloads[0], **{"checked": 0} | changes)
    times_ns = tuple(filter(math.isfinite, load.samples_ns)) or (US,)
    middle = median_time(times_ns, load.drift_factors, max(load.processes, 1))
    spread = spread_of(times_ns, load.drift_factors)
    load = WorkloadResult(
        **vars(load)
        | {
            "median_ns": middle.median_ns,
            "ci95_ns": middle.ci95_ns,
            "mean_ns": spread.mean_ns,
            "stdev_ns": spread.stdev_ns,
            "best_ns": spread.best_ns,
            "worst_ns": spread.worst_ns,
        }
        | changes
    )
    low_ns, high_ns = load.ci95_ns
    return replace(
        result,
        phases=(*result.phases[:-1], replace(last, workloads=(load,))),
        harness=job.problem.harness,
        score_s=load.median_ns / 1e9,
        score_ci95_s=(max(low_ns, 1.0) / 1e9, high_ns / 1e9),
    )


def samples(count: int, ns: float = US) -> dict[str, Any]:
    return {"samples_ns": (ns,) * count}


def refused(job: JobSpec, result: RunResult, why: str, within_s: float = WITHIN_S) -> None:
    with pytest.raises(Disagrees, match=why):
        held_to(job, result, within_s)


EARLY = {"stopped_by": "wall_cap"}
MOST_FACTOR, LEAST_FACTOR = 1 + MAX_DRIFT, 1 / (1 + MAX_DRIFT)
ROUNDED = 1 + 1e-9
LEAST_ROUNDED = (1 - 1e-9) / MOST_FACTOR
WITH_ANCHOR = {"anchor_ns": 5.0, "drift_factors": (1.0, 1.0)}
TWO_WAITED = {"waited": 2, "repeated": 2}


@pytest.mark.parametrize(
    ("job", "says"),
    [
        (NATIVE, samples(10)),
        (NATIVE, samples(20)),
        (NATIVE, samples(6) | EARLY),
        (NATIVE, samples(6) | {"stopped_by": "dispute"}),
        (FEW, samples(3) | EARLY),
        (replace(NATIVE, sampling=replace(SAMPLING, min_samples=30)), samples(20)),
        (replace(NATIVE, sampling=replace(SAMPLING, min_samples=0)), samples(1)),
        (NATIVE, {"samples_ns": (0.0, *(US,) * 19)}),
        (NATIVE, samples(8) | EARLY | {"processes": 4}),
        (replace(NATIVE, sampling=replace(SAMPLING, max_samples=0)), samples(1)),
        (replace(NATIVE, sampling=replace(SAMPLING, processes=0)), {}),
        (NATIVE, samples(6) | EARLY | {"processes": 3}),
        (NATIVE, {"checked": 20}),
        (NATIVE, {"checked": 44, "calls": 2} | TWO_WAITED),
        (NATIVE, {"waited": 20}),
        (NATIVE, {"waited": 79, "repeated": 79}),
        (NATIVE, {"empty_call_ns": 0.0}),
        (ANCHORED, WITH_ANCHOR),
        (ANCHORED, {"anchor_ns": 0.0, "drift_factors": (MOST_FACTOR, LEAST_FACTOR)}),
        (ANCHORED, WITH_ANCHOR | {"drift_factors": (MOST_FACTOR * ROUNDED, LEAST_ROUNDED)}),
        (ANCHORED, samples(11) | WITH_ANCHOR),
        (ANCHORED, samples(10) | {"anchor_ns": 5.0, "drift_factors": (1.0,)}),
    ],
)
def test_what_a_job_allows_is_kept_as_it_was_said(job: JobSpec, says: dict[str, Any]) -> None:
    result = measured(job, **says)
    assert result == held_to(job, result, WITHIN_S)


@pytest.mark.parametrize(
    ("job", "says", "why"),
    [
        (NATIVE, samples(9), "has 9 samples instead of 10 to 20"),
        (NATIVE, samples(21), "has 21 samples instead of 10 to 20"),
        (NATIVE, samples(5) | EARLY, "has 5 samples instead of 6 to 20"),
        (NATIVE, samples(9) | {"stopped_by": "precision"}, "has 9 samples"),
        (NATIVE, samples(9) | {"stopped_by": "processes"}, "has 9 samples"),
        (replace(NATIVE, sampling=replace(SAMPLING, min_samples=0)), samples(0), "has 0 samples"),
        (NATIVE, samples(20, -1.0), "isn't a time"),
        (NATIVE, samples(20, math.inf), "isn't a time"),
        (NATIVE, samples(20, math.nan), "isn't a time"),
        (NATIVE, {"stopped_by": "a'; echo x"}, "was ended by"),
        (NATIVE, {"stopped_by": "script"}, "was ended by 'script'"),
        (NATIVE, {"calls": 0}, "of 0 calls each"),
        (NATIVE, {"calls": 33}, "of 33 calls each"),
        (replace(NATIVE, sampling=replace(SAMPLING, max_samples=0)), samples(2), "has 2 samples"),
        (replace(NATIVE, sampling=replace(SAMPLING, processes=0)), {"processes": 2}, "of 2 proc"),
        (NATIVE, {"processes": 0}, "of 0 processes"),
        (NATIVE, {"processes": 5}, "of 5 processes"),
        (NATIVE, samples(7) | EARLY | {"processes": 4}, "7 samples aren't enough of 4"),
        (FEW, samples(3) | EARLY | {"processes": 2}, "3 samples aren't enough of 2"),
        (NATIVE, {"checked": -1}, "beside its samples"),
        (NATIVE, {"checked": 45, "calls": 2} | TWO_WAITED, "beside its samples"),
        (NATIVE, {"empty_call_ns": -1.0}, "beside its samples"),
        (NATIVE, {"waited": -1}, "-1 of its calls waited"),
        (NATIVE, {"waited": 23, "repeated": 2}, "23 of its calls waited"),
        (NATIVE, {"waited": 1, "repeated": 2}, "and 2 were repeated"),
        (NATIVE, {"repeated": 1}, "0 of its calls waited, and 1 were repeated"),
        (NATIVE, {"waited": 0, "repeated": -1}, "and -1 were repeated"),
        (NATIVE, {"waited": 80, "repeated": 80}, "80 calls were repeated for 20 samples"),
        (NATIVE, {"extra": {"a": "b"}}, "only a script"),
        (NATIVE, {"median_ns": US * (1 + 1e-8)}, "its median is given"),
        (NATIVE, {"ci95_ns": (US, US * (1 + 1e-8))}, "its median is given"),
        (NATIVE, {"drift_factors": (1.0, 1.0)}, "drift factors aren't those"),
        (NATIVE, {"anchor_ns": 5.0}, "its anchor isn't"),
        (ANCHORED, {"anchor_ns": 5.0}, "drift factors aren't those"),
        (ANCHORED, {"anchor_ns": 5.0, "drift_factors": (1.0,) * 3}, "drift factors aren't those"),
        (ANCHORED, samples(10) | WITH_ANCHOR, "drift factors aren't those"),
        (ANCHORED, {"drift_factors": (1.0, 1.0)}, "its anchor isn't"),
        (ANCHORED, WITH_ANCHOR | {"anchor_ns": -1.0}, "beside its samples"),
        (ANCHORED, WITH_ANCHOR | {"drift_factors": (1.0, 1.11)}, "beyond what is corrected"),
        (ANCHORED, WITH_ANCHOR | {"drift_factors": (0.9, 1.0)}, "beyond what is corrected"),
    ],
)
def test_what_it_does_not_allow_is_refused_by_its_name(
    job: JobSpec, says: dict[str, Any], why: str
) -> None:
    refused(job, measured(job, **says), why)


@pytest.mark.parametrize(("place", "phase"), [(0, Phase.TEST), (1, Phase.PROFILE)])
def test_only_a_phase_that_measures_has_measurements(place: int, phase: Phase) -> None:
    job = replace(NATIVE, mode=Mode.PROFILE)
    phases = list(accepted(job).phases)
    phases[place] = replace(phases[place], workloads=measured(NATIVE).phases[-1].workloads)
    why = f"its {phase} phase h"
    refused(job, replace(accepted(job), phases=tuple(phases)), why)


def test_a_duel_of_no_workload_has_no_ratio() -> None:
    result = fought()
    assert result.duel is not None
    job = replace(DUEL, problem=replace(DUEL.problem, benchmarks=()))
    refused(job, replace(result, duel=replace(result.duel, workloads=())), "allow no ratio")


@pytest.mark.parametrize(("calls", "took_s"), [(1, 5.0), (32, 160.0)])
def test_all_calls_of_all_samples_fit_into_the_attempt(calls: int, took_s: float) -> None:
    result = measured(NATIVE, calls=calls, **samples(MOST_COUNTED * 5, 1e9))
    assert result == held_to(NATIVE, result, took_s)
    refused(NATIVE, result, "took longer than the attempt", took_s - 1)


REPORTED = {"samples_ns": (), "stopped_by": "script", "checked": 0}
MEAN = {"median_ns": 5.0, "mean_ns": 5.0, "ci95_ns": (5.0, 5.0), "best_ns": 1.0, "worst_ns": 9.0}

SHORT = {"median_ns": 0.5, "mean_ns": 0.5, "ci95_ns": (0.5, 0.5), "best_ns": 0.5, "worst_ns": 0.5}


@pytest.mark.parametrize(
    "says",
    [{}, MEAN, MEAN | {"ci95_ns": (0.0, 7.0)}, MEAN | {"stdev_ns": 0.0}, SHORT],
)
def test_what_a_script_says_is_kept(says: dict[str, Any]) -> None:
    result = measured(SCRIPT, **REPORTED | says)
    assert result == held_to(SCRIPT, result, WITHIN_S)


@pytest.mark.parametrize(
    ("says", "why"),
    [
        (samples(20), "reports no samples"),
        ({"drift_factors": (1.0,)}, "reports no samples"),
        ({"anchor_ns": 5.0}, "reports no samples"),
        ({"stopped_by": "precision"}, "aren't marked"),
        ({"checked": 1}, "aren't marked"),
        ({"processes": 2}, "aren't marked"),
        ({"calls": 2}, "aren't marked"),
        (MEAN | {"mean_ns": 6.0}, "isn't within its interval"),
        (MEAN | {"median_ns": 0.0, "mean_ns": 0.0, "ci95_ns": (0.0, 0.0)}, "isn't within"),
        (MEAN | {"ci95_ns": (-1.0, 5.0)}, "isn't within its interval"),
        (MEAN | {"ci95_ns": (5.1, 6.0)}, "isn't within its interval"),
        (MEAN | {"ci95_ns": (4.0, 4.9)}, "isn't within its interval"),
        ({"waited": 0}, "doesn't tell what waited"),
        ({"repeated": 1}, "doesn't tell what waited"),
        ({"best_ns": 0.0}, "aren't times"),
        ({"worst_ns": 0.0}, "aren't times"),
        ({"stdev_ns": -1.0}, "aren't times"),
    ],
)
def test_but_not_what_a_script_cannot_say(says: dict[str, Any], why: str) -> None:
    refused(SCRIPT, measured(SCRIPT, **REPORTED | says), why)


def fought(**changes: Any) -> RunResult:
    """A duel that was fought, whose only workload says this."""
    test, ranked = accepted(NATIVE).phases
    spec = ranked.workloads[0].spec
    pairs = duel_workload(spec, (US,) * 20, (2 * US,) * 20, "max_samples", 4)
    duel = duel_result(DUEL.problem.ranking_by, [pairs])
    said = replace(duel, workloads=(replace(pairs, **changes),))
    cases = tuple(CaseResult(one.spec, Verdict.ACCEPTED, "") for one in test.cases)
    theirs = PhaseResult(Phase.TEST, Verdict.ACCEPTED, 0.5, cases, of_opponent=True)
    phases = (test, theirs, replace(ranked, workloads=()))
    return replace(accepted(NATIVE), phases=phases, duel=said, score_s=None, score_ci95_s=None)


@pytest.mark.parametrize("says", [{}, {"waited": 3, "repeated": 2}, {"waited": 20}])
def test_what_a_duel_shows_is_kept(says: dict[str, Any]) -> None:
    assert fought(**says) == held_to(DUEL, fought(**says), WITHIN_S)


@pytest.mark.parametrize(
    ("says", "why"),
    [
        ({"opponent_ns": (2 * US,) * 19}, "weren't called in turn"),
        ({"submission_ns": (US,) * 21, "opponent_ns": (2 * US,) * 21}, "has 21 samples"),
        ({"opponent_ns": (-US,) * 20}, "isn't a time"),
        ({"submission_ns": (-US,) * 20}, "isn't a time"),
        ({"stopped_by": "me"}, "was ended by"),
        ({"processes": 5}, "of 5 processes"),
        ({"waited": 21}, "21 of its calls waited"),
        ({"waited": 80, "repeated": 80}, "80 calls were repeated"),
        ({"ratio": 0.4}, "its ratio is given as .0.4"),
        ({"ratio_ci95": (0.4, 0.5)}, "its ratio is given as .0.5, 0.4"),
        ({"spec": "size: 1"}, "workloads aren't those of the job"),
    ],
)
def test_but_not_what_it_cannot_show(says: dict[str, Any], why: str) -> None:
    refused(DUEL, fought(**says), why)


def test_the_calls_of_both_kernels_fit_into_the_attempt() -> None:
    says = {"submission_ns": (1e9,) * 20, "opponent_ns": (2e9,) * 20}
    assert fought(**says) == held_to(DUEL, fought(**says), 60.0 / MOST_COUNTED)
    refused(DUEL, fought(**says), "took longer than the attempt", 59.0 / MOST_COUNTED)


def test_a_duels_ratio_is_that_of_its_workloads() -> None:
    result = fought()
    assert result.duel is not None
    lied: DuelResult = replace(result.duel, ratio=0.4)
    refused(DUEL, replace(result, duel=lied), "its ratio is given as .0.4")
