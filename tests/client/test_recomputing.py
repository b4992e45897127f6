"""Scores of signed results, computed again from their samples."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelbot.attestations.schemas import AttestedResult
from kernelbot.client.recomputing import DoesNotFollow, ScoreCheck, check_scores
from kernelbot.protocol import RankRule
from kernelbot.protocol.scoring import (
    FEWEST_TURNS,
    FEWEST_TURNS_BEFORE,
    median_time,
    process_interval,
    score,
)
from tests.support.signed import RESULT, run, workload

SAMPLES = [5e8, 4e8, 6e8]


def checked(*runs: dict[str, Any], **more: Any) -> list[ScoreCheck]:
    return check_scores(AttestedResult.model_validate({**RESULT, "runs": runs, **more}))


def outcomes(*runs: dict[str, Any]) -> list[tuple[str, int]]:
    return [(check.outcome.value, check.samples) for check in checked(*runs)]


def test_a_score_is_that_of_its_samples() -> None:
    assert [("equal", 3)] == outcomes(run([workload(SAMPLES)]))


def test_the_ranked_phase_counts_and_not_the_benchmark() -> None:
    benchmark = workload([9e8, 9e8], phase="benchmark")
    assert [("equal", 3)] == outcomes(run([benchmark, workload(SAMPLES)]))


def test_drift_is_taken_out_of_the_samples_first() -> None:
    load = workload(
        [1e9, 8e8, 1.2e9], median_ns=5e8, ci95_ns=[4e8, 6e8], anchor_ns=1.0, drift_factors=[0.5]
    )
    assert [("equal", 3)] == outcomes(run([load]))


def test_processes_are_taken_into_account_if_the_document_names_them() -> None:
    samples = [4e8, 5e8, 6e8] * 4
    low, high = process_interval(samples, 3)
    load = workload(samples, ci95_ns=[low, high], processes=3)
    assert [("equal", 12)] == outcomes(run([load], score_ci95_s=[low / 1e9, high / 1e9]))


THREE_TURNS = [*[4e8] * 8, *[5e8] * 8, *[6e8] * 8]


@pytest.mark.parametrize("fewest_turns", [FEWEST_TURNS, FEWEST_TURNS_BEFORE])
def test_what_an_earlier_release_said_of_three_turns_stays_right(fewest_turns: int) -> None:
    low, high = median_time(THREE_TURNS, (), 8, fewest_turns).ci95_ns
    load = workload(THREE_TURNS, ci95_ns=[low, high], processes=8)
    assert [("equal", 24)] == outcomes(run([load], score_ci95_s=[low / 1e9, high / 1e9]))


def test_a_score_of_another_rule_than_its_workloads_does_not_follow() -> None:
    low, high = median_time(THREE_TURNS, processes=8).ci95_ns
    before = median_time(THREE_TURNS, (), 8, FEWEST_TURNS_BEFORE).ci95_ns
    load = workload(THREE_TURNS, ci95_ns=[low, high], processes=8)
    with pytest.raises(DoesNotFollow, match="the score is given as"):
        outcomes(run([load], score_ci95_s=[end / 1e9 for end in before]))


@given(
    st.sampled_from(RankRule),
    st.lists(st.lists(st.floats(1, 1e10), min_size=6, max_size=30), min_size=1, max_size=4),
)
def test_whatever_the_harness_computes_is_equal(rule: RankRule, samples: list[list[float]]) -> None:
    times = [median_time(one) for one in samples]
    score_s, interval_s = score(rule, times)
    loads = [
        workload(one, workload=index, median_ns=time.median_ns, ci95_ns=time.ci95_ns)
        for index, (one, time) in enumerate(zip(samples, times, strict=True))
    ]
    judged = run(loads, score_s=score_s, score_ci95_s=interval_s, ranking_by=rule)
    (check,) = checked(judged, score_s=score_s)
    assert ("equal", sum(map(len, samples))) == (check.outcome, check.samples)


@pytest.mark.parametrize(
    ("judged", "why"),
    [
        (run([workload(SAMPLES)], score_s=0.49), "the score is given as 0.49 s"),
        (run([workload(SAMPLES)], score_ci95_s=[0.45, 0.6]), "interval 0.45 .. 0.6 s"),
        (run([workload(SAMPLES, median_ns=4.9e8)]), "the median is given as 490000000.0 ns"),
        (run([workload(SAMPLES, ci95_ns=[5e8, 6e8])]), "interval 500000000.0 .. 600000000.0 ns"),
        (run([workload([*SAMPLES, 1e9])]), "the score is given as 0.5 s"),
        (run([]), "not all samples"),
        (run([workload(SAMPLES), {**workload(SAMPLES), "samples_ns": []}]), "not all samples"),
        (run([workload([-1.0, -2.0])]), "its samples allow none"),
        (run([workload([1.7e308, 1.7e308], median_ns=1.7e308)]), "the median is given as"),
        (
            run([workload([1.7e308, 1e308] * 6, median_ns=1.0, ci95_ns=[1.0, 1.0], processes=2)]),
            "its samples can't be times",
        ),
        (run([workload(SAMPLES)] * 2, ranking_by="last", score_s=0.4), "by its samples it is 0.5"),
    ],
)
def test_what_the_samples_contradict(judged: dict[str, Any], why: str) -> None:
    with pytest.raises(DoesNotFollow, match=why):
        checked(judged, score_s=judged["score_s"])


def test_the_submissions_score_must_be_a_runs() -> None:
    with pytest.raises(DoesNotFollow, match=r"0\.3 s, is that of none of its runs"):
        checked(run([workload(SAMPLES)]), score_s=0.3)


@pytest.mark.parametrize(
    ("judged", "outcome"),
    [
        (run([], samples_withheld=True), "withheld"),
        (run([{**workload(SAMPLES), "samples_ns": []}], kind="script"), "script"),
        (run([workload(SAMPLES)], ranking_by=None), "older"),
        (run([], score_s=None, score_ci95_s=None, verdict="wrong_answer"), "no_score"),
    ],
)
def test_what_cannot_be_computed_again(judged: dict[str, Any], outcome: str) -> None:
    assert [(outcome, 0)] == [
        (check.outcome, check.samples) for check in checked(judged, score_s=judged["score_s"])
    ]
