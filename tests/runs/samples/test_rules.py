"""Whose samples are for whom, and what names a workload where its data is secret."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from kernelbot.domain.states import RunState
from kernelbot.duels.model import Duel, DuelReason, DuelState
from kernelbot.protocol import DuelResult, DuelWorkload, Mode, Phase, Verdict
from kernelbot.runs.model import Run
from kernelbot.runs.samples.model import without_seed, workload_name
from kernelbot.runs.samples.rules import (
    may_see_pairs,
    may_see_samples,
    paired_workloads,
    sampled_workloads,
)
from tests.fakes.host import result_of
from tests.harness.jobs import SORT, a_job

AT = datetime(2026, 1, 1, tzinfo=UTC)
RUN = Run(
    id=5,
    submission_id=12,
    device="CPU",
    mode=Mode.LEADERBOARD,
    secret=True,
    state=RunState.FINISHED,
    verdict=Verdict.ACCEPTED,
    score_s=1.0,
    attempts=1,
    created_at=AT,
    started_at=AT,
    finished_at=AT,
    fault=None,
    message=None,
    result=None,
)
PUBLIC, FAILED = replace(RUN, secret=False), replace(RUN, verdict=Verdict.WRONG_ANSWER)


@pytest.mark.parametrize(
    ("run", "sees_secret", "seed_is_shared", "may"),
    [
        (PUBLIC, False, True, True),
        (replace(PUBLIC, verdict=Verdict.WRONG_ANSWER), False, True, True),
        (RUN, False, False, True),
        (RUN, False, True, False),
        (RUN, True, True, True),
        (FAILED, False, False, False),
        (FAILED, True, False, True),
    ],
)
def test_samples_of_secret_data_tell_nothing_of_it(
    run: Run, sees_secret: bool, seed_is_shared: bool, may: bool
) -> None:
    assert may is may_see_samples(run, sees_secret=sees_secret, seed_is_shared=seed_is_shared)


@pytest.mark.parametrize(
    ("state", "sees_secret", "seed_is_shared", "may"),
    [
        (DuelState.MEASURED, False, False, True),
        (DuelState.MEASURED, False, True, False),
        (DuelState.FAILED, False, False, False),
        (DuelState.FAILED, True, True, True),
    ],
)
def test_so_do_those_of_a_duel(
    state: DuelState, sees_secret: bool, seed_is_shared: bool, may: bool
) -> None:
    duel = Duel(
        id=1,
        board="sort",
        device="CPU",
        reason=DuelReason.NEIGHBOURS,
        state=state,
        submission_id=2,
        author="ada",
        opponent_id=3,
        opponent="bob",
        ratio=None,
        note=None,
        refused=False,
        sentence="",
        created_at=AT,
        ended_at=AT,
    )
    assert may is may_see_pairs(duel, sees_secret=sees_secret, seed_is_shared=seed_is_shared)


@pytest.mark.parametrize("names_data", [False, True])
def test_workloads_are_named_for_those_who_may_know_them(names_data: bool) -> None:
    result = result_of(a_job(SORT, mode=Mode.LEADERBOARD, secret=True), ["accepted"])
    found = sampled_workloads(RUN, result, names_data=names_data)
    loads = result.phases[-1].workloads
    assert [
        (5, Phase.LEADERBOARD, at, load.spec if names_data else None, load.samples_ns)
        for at, load in enumerate(loads)
    ] == [(one.run_id, one.phase, one.workload, one.spec, one.samples_ns) for one in found]


def test_pairs_are_named_by_their_number_if_not_by_their_data() -> None:
    pairs = [DuelWorkload(f"n: {n}", (1.0,), (2.0,), 0.5, (0.5, 0.5)) for n in range(2)]
    duel = DuelResult(0.5, (0.5, 0.5), tuple(pairs))
    known = paired_workloads(duel, names_data=True)
    unknown = paired_workloads(duel, names_data=False)
    assert pairs == [one.named for one in known]
    names = [workload_name(at, None) for at in range(2)]
    assert [replace(one, spec=name) for one, name in zip(pairs, names, strict=True)] == [
        one.named for one in unknown
    ]


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("n: 1; seed: 5; m: 2", "n: 1; m: 2"),
        ("n: 1", "n: 1"),
        ("seed: 5", workload_name(3, None)),
        ("seeds: 5", "seeds: 5"),
    ],
)
def test_a_workload_without_its_seed(spec: str, expected: str) -> None:
    assert expected == without_seed(spec, 3)
    assert spec == workload_name(3, spec)
