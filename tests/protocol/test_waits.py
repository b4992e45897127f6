"""When a machine was too busy to measure on."""

from dataclasses import replace

import pytest

from kernelbot.protocol import DuelResult, DuelWorkload, Mode, Phase, RunResult, WorkloadResult
from kernelbot.protocol.waits import busy_share, busy_text, waited_share
from tests.fakes.host import result_of
from tests.harness.jobs import SORT, a_job

JOB = a_job(SORT, mode=Mode.LEADERBOARD, secret=True)
QUIET = result_of(JOB, ["accepted"])


def measured(*waits: tuple[int | None, int], phase: Phase = Phase.LEADERBOARD) -> RunResult:
    """Workloads of six samples each, with how many windows waited, and were repeated."""
    load = WorkloadResult("n: 1", (1.0,) * 6, 1.0, 1.0, 0.0, (1.0, 1.0), 1.0, 1.0)
    loads = tuple(replace(load, waited=waited, repeated=again) for waited, again in waits)
    phases = tuple(
        replace(one, workloads=loads) if one.phase is phase else one for one in QUIET.phases
    )
    return replace(QUIET, phases=phases)


def test_the_share_is_of_all_windows() -> None:
    load = measured((5, 4)).phases[-1].workloads[0]
    assert 0.5 == waited_share(load)


@pytest.mark.parametrize(
    ("waits", "expected"),
    [
        ([(5, 0)], None),  # five sixths
        ([(6, 0)], 1.0),
        ([(21, 18), (0, 0)], 21 / 24),
        ([(0, 0), (21, 18)], 21 / 24),
        ([(None, 0)], None),
    ],
)
def test_more_than_five_sixths_in_any_workload_is_busy(
    waits: list[tuple[int | None, int]], expected: float | None
) -> None:
    assert expected == busy_share(measured(*waits))


def test_where_nothing_was_measured_nothing_waited() -> None:
    assert busy_share(replace(QUIET, phases=())) is None


def test_what_decides_no_score_does_not_count() -> None:
    assert busy_share(measured((6, 0), phase=Phase.BENCHMARK)) is None


def test_a_duel_counts_pairs() -> None:
    pairs = DuelWorkload("n: 1", (1.0,) * 6, (1.0,) * 6, 1.0, (1.0, 1.0), waited=21, repeated=18)
    assert 21 / 24 == busy_share(replace(QUIET, duel=DuelResult(1.0, (1.0, 1.0), (pairs,))))


def test_a_person_reads_the_share() -> None:
    assert (
        "The machine was busy: 83 % of the calls waited for a processor that other programs had"
        == busy_text(5 / 6)
    )
