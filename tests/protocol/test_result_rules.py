"""What a result must satisfy: honest ones do, and a change of anything that matters is refused."""

import base64
import json
import re
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
from kernelbot.protocol.workload_rules import MOST_COUNTED, Disagrees
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
    "a sample of nothing": sampled(*(0.0,) * 20, median_ns=0.0, ci95_ns=(0.0, 0.0)),
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
}


SAID = {
    "a score of nothing": "its score is given as",
    "a score without an interval": "its score is given as",
    "an interval elsewhere": "its score is given as",
    "no score": "its score is given as",
    "another job": "the result of another job",
    "another mode": "its mode is 'test' instead of",
    "another problem": "its problem is 'other' instead of",
    "another judge": "its harness is 'script' instead of",
    "no phases": "isn't that of its phases",
    "one phase": "isn't that of its phases",
    "phases in another order": "aren't those of mode leaderboard",
    "a phase twice": "aren't those of mode leaderboard",
    "a phase of another mode": "aren't those of mode leaderboard",
    "an opponent's phase": "aren't those of mode leaderboard",
    "a refused phase": "isn't that of its phases",
    "a refused phase before others": "follows one that was refused",
    "an accepted phase with a failure": "was accepted, and has a failure",
    "a negative phase": "a duration is negative",
    "a negative duration": "a duration is negative",
    "a negative time": "a duration is negative",
    "a failure of an accepted run": "exactly if it isn't accepted",
    "a verdict that no phase gave": "isn't that of its phases",
    "no failure": "exactly if it isn't accepted",
    "the author's internal error": "is not the author's fault",
    "an opponent that failed": "there is none that did",
    "a sample of nothing": "its samples allow no score",
    "a duel": "only a duel that was fought",
    "files": "leaves no files",
    "too few cases": "test phase has 1 cases or workloads",
    "no cases": "test phase has 0 cases or workloads",
    "cases of another problem": "that aren't the 3 of the job",
    "too many cases": "test phase has 4 cases or workloads",
    "a wrong case": "a case of it wasn't",
    "workloads of tests": "holds what that phase hasn't",
    "cases of a measurement": "holds what that phase hasn't",
    "no workloads": "leaderboard phase has 0 cases",
    "a workload twice": "leaderboard phase has 2 cases",
    "another workload": "that aren't the 1 of the job",
}


@pytest.mark.parametrize("lie", LIES)
def test_a_result_that_disagrees_is_refused_by_its_name(lie: str) -> None:
    with pytest.raises(Disagrees, match=re.escape(SAID[lie])):
        held_to(RANKED, LIES[lie](accepted(RANKED)), WITHIN_S)


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
    assert result == held_to(RANKED, result, 21 / MOST_COUNTED)
    with pytest.raises(Disagrees, match="longer than the attempt"):
        held_to(RANKED, result, 19 / MOST_COUNTED)


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
    for lied, why in (
        (ratio, "its ratio is given as"),
        (replace(result.duel, workloads=()), "its duel's workloads aren't those of the job"),
        (None, "only a duel that was fought"),
    ):
        with pytest.raises(Disagrees, match=why):
            held_to(DUEL, replace(result, duel=lied), WITHIN_S)


@given(st.data())
def test_a_duel_measures_no_kernel_alone(data: st.DataObject) -> None:
    result = data.draw(honest(DUEL).filter(lambda each: each.duel is not None))
    measured = changed_phase(-1, workloads=accepted(RANKED).phases[-1].workloads)
    with pytest.raises(Disagrees, match="a duel has measurements of one kernel"):
        held_to(DUEL, measured(result), WITHIN_S)


def files(media_type: str, *sizes: int) -> tuple[Artifact, ...]:
    content = [base64.b64encode(bytes(size)).decode() for size in sizes]
    return tuple(Artifact(str(n), media_type, text) for n, text in enumerate(content))


KIB, MIB, FILE = 1 << 10, 1 << 20, "application/gzip"


@pytest.mark.parametrize(
    "left",
    [
        files("text/plain", *[256 * KIB] * 200),
        files(FILE, 16 * MIB, 16 * MIB) + files("text/plain", 1),
    ],
    ids=["texts", "files"],
)
def test_files_of_the_largest_size_are_kept(left: tuple[Artifact, ...]) -> None:
    left = tuple(replace(one, name=str(number)) for number, one in enumerate(left))
    result = replace(accepted(PROFILED), artifacts=left)
    assert result == held_to(PROFILED, result, WITHIN_S)


@pytest.mark.parametrize(
    ("left", "why"),
    [
        ((Artifact("a", "text/plain", "AAA!A"),), "isn't base64"),
        ((Artifact("a", "text/plain", ""),) * 2, "have the same name"),
        (files("text/plain", 256 * KIB + 1), "larger than a run may leave"),
        (files(FILE, 16 * MIB + 1), "larger than a run may leave"),
        (files(FILE, 16 * MIB, 16 * MIB, 1), "larger than a run may leave"),
    ],
    ids=["no base64", "one name", "a long text", "a large file", "large together"],
)
def test_files_have_bounds_of_their_own(left: tuple[Artifact, ...], why: str) -> None:
    with pytest.raises(Disagrees, match=why):
        held_to(PROFILED, replace(accepted(PROFILED), artifacts=left), WITHIN_S)


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
    with pytest.raises(Disagrees, match="isn't that of its phases"):
        held_to(RANKED, early, WITHIN_S)


def refused_early(job: JobSpec, **changes: Any) -> RunResult:
    """One that was refused in its first phase."""
    first = PhaseResult(Phase.TEST, Verdict.WRONG_ANSWER, 0.5, failure=AUTHOR)
    early = replace(accepted(job), phases=(first,), verdict=first.verdict, failure=AUTHOR)
    return replace(early, score_s=None, score_ci95_s=None, **changes)


def test_an_opponent_fails_only_in_a_duel_that_was_refused() -> None:
    result = refused_early(RANKED, opponent_failed=True)
    assert result == held_to(DUEL, result, WITHIN_S)
    with pytest.raises(Disagrees, match="there is none that did"):
        held_to(RANKED, result, WITHIN_S)


def test_what_a_job_allows_grows_with_it() -> None:
    many: JobSpec = replace(RANKED, problem=replace(a_problem(), tests=RANKED.problem.tests * 100))
    assert most_bytes(a_job(SORT)) < most_bytes(RANKED) < most_bytes(PROFILED)
    assert most_bytes(RANKED) < most_bytes(many)
