"""How many processes of a kernel are timed."""

from dataclasses import replace

import pytest

from kernelbot.harness.timing.processes import Cost, affordable, interleaved, wanted
from kernelbot.harness.words.plan import Plan
from kernelbot.protocol import DeviceSpec, Mode, SamplingRules, SourceFile, Vendor
from tests.harness.jobs import SORT, a_job

RULES = SamplingRules(processes=8)
JOB = replace(a_job(SORT, mode=Mode.LEADERBOARD), sampling=RULES)
DUEL = replace(JOB, opponent=SourceFile("b.py", SORT))
ON_GPU = replace(JOB, device=DeviceSpec("H100", Vendor.NVIDIA))
RANKS = replace(JOB, problem=replace(JOB.problem, multi_gpu=True))
FEW = replace(JOB, sampling=replace(RULES, max_samples=7))


@pytest.mark.parametrize(
    ("job", "expected"),
    [(JOB, 8), (DUEL, 4), (ON_GPU, 1), (RANKS, 1), (FEW, 3)],
    ids=["one kernel", "a duel", "a GPU", "ranks", "few samples"],
)
def test_they_are_as_many_in_a_duel_and_one_where_more_cost_too_much(
    job: object, expected: int
) -> None:
    assert expected == wanted(Plan.for_job(job))  # type: ignore[arg-type]  # parametrised


@pytest.mark.parametrize("processes", [-1, 0, 1, 2])
def test_two_are_worth_nothing(processes: int) -> None:
    assert 1 == wanted(Plan.for_job(replace(JOB, sampling=replace(RULES, processes=processes))))


@pytest.mark.parametrize(
    ("cost", "expected"),
    [
        (Cost(0.0), 8),
        (Cost(0.1), 8),
        (Cost(0.4), 6),  # two seconds of a hundred for five more
        (Cost(1.5), 3),
        (Cost(5.0), 3),  # ten for two more
        (Cost(5.1), 1),
        (Cost(0.1, shared_s=1.5), 6),  # half a second of two is left
        (Cost(0.4, shared_s=9.5), 1),
        (Cost(0.0, 100), 8),
        (Cost(0.0, 200), 5),
        (Cost(0.0, 500), 1),
    ],
)
def test_time_and_memory_bound_them(cost: Cost, expected: int) -> None:
    assert expected == affordable(8, cost, 100.0, 1000)


def test_what_takes_no_memory_fits_into_any() -> None:
    assert 8 == affordable(8, Cost(0.0), 100.0, 10)


def test_samples_alternate() -> None:
    assert ["a", "c", "e", "b", "d"] == interleaved(["ab", "cd", "e"])
    assert [] == interleaved([])
