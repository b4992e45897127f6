"""What a result must satisfy: honest ones do, and a change of anything that matters is refused."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelbot.protocol import (
    Artifact,
    CaseResult,
    DuelResult,
    Failure,
    Fault,
    HarnessKind,
    JobSpec,
    Lang,
    Mode,
    Phase,
    PhaseResult,
    RunResult,
    SourceFile,
    Verdict,
    WorkloadResult,
    to_wire,
)
from kernelbot.protocol.result_rules import MAX_ITEMS, MAX_TEXT, held_to
from kernelbot.protocol.result_size import MAX_BYTES, most_bytes
from kernelbot.protocol.workload_rules import Disagrees
from tests.harness.jobs import SORT, a_job, a_problem
from tests.support.honest import WITHIN_S, accepted, honest, jobs

RANKED = a_job(SORT, mode=Mode.LEADERBOARD)
SCRIPT = replace(RANKED, problem=replace(RANKED.problem, harness=HarnessKind.SCRIPT))
PROFILED = replace(RANKED, mode=Mode.PROFILE)
DUEL = replace(RANKED, opponent=SourceFile("other.py", SORT))


@given(st.data())
def test_an_honest_result_holds_and_keeps_its_figures(data: st.DataObject) -> None:
    job = data.draw(jobs())
    result = data.draw(honest(job))
    assert result == held_to(job, result, WITHIN_S)


@given(st.data())
def test_an_honest_result_is_as_small_as_its_job_says(data: st.DataObject) -> None:
    job = data.draw(jobs())
    assert len(json.dumps(to_wire(data.draw(honest(job))))) <= most_bytes(job) <= MAX_BYTES


@given(st.data())
def test_a_result_of_one_job_is_none_of_another(data: st.DataObject) -> None:
    job, other = data.draw(jobs()), data.draw(jobs())
    result = data.draw(honest(job))
    try:
        held_to(replace(other, job_id="2"), result, WITHIN_S)
    except Disagrees:
        return
    raise AssertionError("it was believed")


def changed_load(change: Callable[[WorkloadResult], WorkloadResult]) -> Callable[[Any], Any]:
    """A change of the ranked phase's only workload."""

    def apply_change(result: RunResult) -> RunResult:
        last = result.phases[-1]
        return replace(
            result,
            phases=(*result.phases[:-1], replace(last, workloads=(change(last.workloads[0]),))),
        )

    return apply_change


def changed_phase(place: int, **changes: Any) -> Callable[[RunResult], RunResult]:
    def apply_change(result: RunResult) -> RunResult:
        phases = list(result.phases)
        phases[place] = replace(phases[place], **changes)
        return replace(result, phases=tuple(phases))

    return apply_change


def changed(**changes: Any) -> Callable[[RunResult], RunResult]:
    return lambda result: replace(result, **changes)


def sampled(*samples: float, **changes: Any) -> Callable[[RunResult], RunResult]:
    return changed_load(lambda load: replace(load, samples_ns=samples, **changes))


AUTHOR = Failure(Fault.AUTHOR, "wrong")
OURS = Failure(Fault.PLATFORM, "broken")
CASE = CaseResult("size: 1; seed: 4242", Verdict.ACCEPTED, "")
LIES: dict[str, Callable[[RunResult], RunResult]] = {
    "a score of nothing": changed(score_s=5e-324),
    "a score without an interval": changed(score_ci95_s=None),
    "an interval elsewhere": changed(score_ci95_s=(3.0, 4.0)),
    "no score": changed(score_s=None, score_ci95_s=None),
    "another job": changed(job_id="2"),
    "another mode": changed(mode=Mode.TEST),
    "another problem": changed(problem="other"),
    "another judge": changed(harness=HarnessKind.SCRIPT),
    "no phases": changed(phases=()),
    "one phase": lambda result: replace(result, phases=result.phases[:1]),
    "phases in another order": lambda result: replace(result, phases=result.phases[::-1]),
    "a phase twice": lambda result: replace(result, phases=result.phases[:1] + result.phases),
    "a phase of another mode": changed_phase(1, phase=Phase.PROFILE),
    "an opponent's phase": changed_phase(0, of_opponent=True),
    "a refused phase": changed_phase(1, verdict=Verdict.WRONG_ANSWER, failure=AUTHOR),
    "a refused phase before others": changed_phase(0, verdict=Verdict.WRONG_ANSWER),
    "an accepted phase with a failure": changed_phase(0, failure=AUTHOR),
    "a negative phase": changed_phase(0, duration_s=-1.0),
    "a negative duration": changed(duration_s=-1.0),
    "a negative time": changed(timings={"kernel": -1.0}),
    "a failure of an accepted run": changed(failure=AUTHOR),
    "a verdict that no phase gave": changed(
        verdict=Verdict.WRONG_ANSWER, failure=AUTHOR, score_s=None, score_ci95_s=None
    ),
    "no failure": changed(verdict=Verdict.INTERNAL_ERROR, score_s=None, score_ci95_s=None),
    "the author's internal error": changed(
        verdict=Verdict.INTERNAL_ERROR, failure=AUTHOR, score_s=None, score_ci95_s=None
    ),
    "an opponent that failed": changed(opponent_failed=True),
    "a duel": changed(duel=DuelResult(1.0, (1.0, 1.0), ())),
    "files": changed(artifacts=(Artifact("a", "text/plain", ""),)),
    "too few cases": changed_phase(0, cases=(CASE,)),
    "no cases": changed_phase(0, cases=()),
    "cases of another problem": changed_phase(0, cases=(replace(CASE, spec="size: 2"),) * 3),
    "too many cases": changed_phase(0, cases=(CASE,) * 4),
    "a wrong case": lambda result: changed_phase(
        0, cases=(replace(result.phases[0].cases[0], verdict=Verdict.WRONG_ANSWER),) * 3
    )(result),
    "workloads of tests": lambda result: changed_phase(0, workloads=result.phases[1].workloads)(
        result
    ),
    "cases of a measurement": changed_phase(1, cases=(CASE,)),
    "no workloads": changed_phase(1, workloads=()),
    "a workload twice": lambda result: changed_phase(1, workloads=result.phases[1].workloads * 2)(
        result
    ),
    "another workload": changed_load(lambda load: replace(load, spec="size: 2")),
    "another median": changed_load(lambda load: replace(load, median_ns=1.0)),
    "another interval": changed_load(lambda load: replace(load, ci95_ns=(3.0, 4.0))),
    "no samples": sampled(),
    "five samples": sampled(*[1000.0] * 5, stopped_by="wall_cap"),
    "six samples for no reason": sampled(*[1000.0] * 6),
    "too many samples": sampled(*[1000.0] * 21),
    "negative samples": sampled(*[1000.0] * 19, -1.0),
    "samples that are no numbers": sampled(*[1000.0] * 19, float("nan")),
    "samples without an end": sampled(*[1000.0] * 19, float("inf")),
    "samples longer than the attempt": sampled(*[1000.0] * 19, 1e13),
    "an end that isn't known": changed_load(lambda load: replace(load, stopped_by="me")),
    "no processes": changed_load(lambda load: replace(load, processes=0)),
    "more processes than asked for": changed_load(lambda load: replace(load, processes=9)),
    "processes without samples": sampled(*[1000.0] * 6, stopped_by="wall_cap", processes=4),
    "fewer waits than none": changed_load(lambda load: replace(load, waited=-1)),
    "more waits than windows": changed_load(lambda load: replace(load, waited=21)),
    "repeats without a wait": changed_load(lambda load: replace(load, repeated=1)),
    "fewer repeats than none": changed_load(lambda load: replace(load, waited=1, repeated=-1)),
    "more repeats than tries": changed_load(lambda load: replace(load, waited=80, repeated=80)),
    "more checks than windows": changed_load(
        lambda load: replace(load, checked=23, waited=2, repeated=2)
    ),
    "a script's end": changed_load(lambda load: replace(load, stopped_by="script")),
    "more checks than samples": changed_load(lambda load: replace(load, checked=21)),
    "more checks than calls": changed_load(lambda load: replace(load, calls=2, checked=41)),
    "no calls": changed_load(lambda load: replace(load, calls=0)),
    "more calls than a window holds": changed_load(lambda load: replace(load, calls=33)),
    "drift without an anchor": changed_load(lambda load: replace(load, drift_factors=(0.1,) * 2)),
    "an anchor": changed_load(lambda load: replace(load, anchor_ns=5.0)),
    "a negative empty call": changed_load(lambda load: replace(load, empty_call_ns=-1.0)),
    "a script's keys": changed_load(lambda load: replace(load, extra={"a": "b"})),
}


@pytest.mark.parametrize("lie", LIES.values(), ids=LIES)
def test_a_result_that_disagrees_is_refused(lie: Callable[[RunResult], RunResult]) -> None:
    with pytest.raises(Disagrees):
        held_to(RANKED, lie(accepted(RANKED)), WITHIN_S)


def test_windows_that_were_repeated_are_kept_and_may_have_been_checked() -> None:
    waits = changed_load(lambda load: replace(load, checked=22, waited=3, repeated=2))
    result = waits(accepted(RANKED))
    assert result == held_to(RANKED, result, WITHIN_S)


@given(st.floats(), st.sampled_from(["median_ns", "score_s", "low", "high"]))
def test_no_other_figure_is_believed(figure: float, name: str) -> None:
    result = accepted(RANKED)
    if name == "median_ns":
        lied = changed_load(lambda load: replace(load, median_ns=figure))(result)
    elif name == "score_s":
        lied = replace(result, score_s=figure)
    else:
        ends = (figure, 1e-6) if name == "low" else (1e-6, figure)
        lied = replace(result, score_ci95_s=ends)
    if abs(figure - (1000.0 if name == "median_ns" else 1e-6)) <= 1e-9 * abs(figure):
        return
    with pytest.raises(Disagrees):
        held_to(RANKED, lied, WITHIN_S)


def test_statistics_that_decide_nothing_are_computed_here() -> None:
    honest_one = accepted(RANKED)
    lied = changed_load(
        lambda load: replace(load, mean_ns=1.0, stdev_ns=9.0, best_ns=2.0, worst_ns=3.0)
    )(honest_one)
    assert honest_one == held_to(RANKED, lied, WITHIN_S)


def test_samples_fit_into_the_attempt() -> None:
    result = accepted(RANKED, sample_ns=1e9)
    assert result == held_to(RANKED, result, 21)
    with pytest.raises(Disagrees, match="longer than the attempt"):
        held_to(RANKED, result, 19)


def script_result(**changes: Any) -> RunResult:
    def by_script(load: WorkloadResult) -> WorkloadResult:
        return replace(load, samples_ns=(), checked=0, stopped_by="script", **changes)

    result = replace(accepted(RANKED), harness=HarnessKind.SCRIPT)
    phases = [
        replace(phase, workloads=tuple(map(by_script, phase.workloads))) for phase in result.phases
    ]
    return replace(result, phases=tuple(phases))


def test_a_scripts_means_are_believed() -> None:
    assert script_result() == held_to(SCRIPT, script_result(), WITHIN_S)


@pytest.mark.parametrize(
    "change",
    [
        {"mean_ns": 5.0},
        {"mean_ns": 0.0, "median_ns": 0.0, "ci95_ns": (0.0, 0.0)},
        {"ci95_ns": (1001.0, 1002.0)},
        {"ci95_ns": (-1.0, 1000.0)},
        {"best_ns": 0.0},
        {"stdev_ns": -1.0},
        {"drift_factors": (1.0,)},
    ],
)
def test_but_not_what_cant_be_one(change: dict[str, Any]) -> None:
    with pytest.raises(Disagrees):
        held_to(SCRIPT, script_result(**change), WITHIN_S)


def test_a_script_has_no_samples_to_be_believed() -> None:
    result = replace(accepted(RANKED), harness=HarnessKind.SCRIPT)
    with pytest.raises(Disagrees, match="a script"):
        held_to(SCRIPT, result, WITHIN_S)


@given(st.data())
def test_a_duels_ratio_is_that_of_its_pairs(data: st.DataObject) -> None:
    result = data.draw(honest(DUEL).filter(lambda each: each.duel is not None))
    assert result.duel is not None
    ratio = replace(result.duel, ratio=result.duel.ratio * 0.9)
    for lied in (ratio, replace(result.duel, workloads=()), None):
        with pytest.raises(Disagrees):
            held_to(DUEL, replace(result, duel=lied), WITHIN_S)


@pytest.mark.parametrize(
    "files",
    [
        (Artifact("a", "text/plain", "not base64"),),
        (Artifact("a", "text/plain", ""),) * 2,
        (Artifact("a", "text/plain", "AAAA" * (90 << 10)),),
        (Artifact("a", "application/gzip", "AAAA" * (6 << 20)),),
        tuple(Artifact(str(n), "application/gzip", "AAAA" * (4 << 20)) for n in range(3)),
    ],
    ids=["no base64", "one name", "a long text", "a large file", "large together"],
)
def test_files_have_bounds_of_their_own(files: tuple[Artifact, ...]) -> None:
    with pytest.raises(Disagrees):
        held_to(PROFILED, replace(accepted(PROFILED), artifacts=files), WITHIN_S)


def test_texts_are_cut_and_lists_of_texts_too() -> None:
    long = "x" * (MAX_TEXT + 1)
    failure = Failure(Fault.AUTHOR, long)
    refused = PhaseResult(Phase.TEST, Verdict.WRONG_ANSWER, 0.0, failure=failure)
    result = replace(
        accepted(RANKED),
        verdict=Verdict.WRONG_ANSWER,
        phases=(refused,),
        failure=failure,
        score_s=None,
        score_ci95_s=None,
        stdout=long,
        suspicions=("x",) * (MAX_ITEMS + 1),
        timings={str(n): 1.0 for n in range(MAX_ITEMS + 1)},
    )
    held = held_to(RANKED, result, WITHIN_S)
    assert held.failure is not None
    assert (MAX_TEXT, MAX_TEXT + 1) == (len(held.failure.message), len(held.stdout))
    assert (MAX_ITEMS, MAX_ITEMS) == (len(held.suspicions), len(held.timings))


@pytest.mark.parametrize("verdict", [Verdict.COMPILE_ERROR, Verdict.TIME_LIMIT])
def test_only_a_compiled_problem_is_refused_before_its_first_phase(verdict: Verdict) -> None:
    early = replace(
        accepted(RANKED),
        phases=(),
        verdict=verdict,
        failure=AUTHOR,
        score_s=None,
        score_ci95_s=None,
    )
    compiled = replace(RANKED, problem=replace(RANKED.problem, lang=Lang.CPP))
    assert early == held_to(compiled, early, WITHIN_S)
    with pytest.raises(Disagrees):
        held_to(RANKED, early, WITHIN_S)


def test_what_a_job_allows_grows_with_it() -> None:
    many: JobSpec = replace(RANKED, problem=replace(a_problem(), tests=RANKED.problem.tests * 100))
    assert most_bytes(a_job(SORT)) < most_bytes(RANKED) < most_bytes(PROFILED)
    assert most_bytes(RANKED) < most_bytes(many)
