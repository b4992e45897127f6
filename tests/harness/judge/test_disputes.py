"""Who may have a second attempt, and what the first one still counts for."""

import pytest

from kernelbot.harness.judge.disputes import Disputes
from kernelbot.harness.judge.measuring.measurement import Measurement, Times
from kernelbot.harness.timing.stopping_rule import StoppedBy
from kernelbot.harness.words.failures import AuthorFailure
from kernelbot.protocol import Case, Phase, Verdict

CASE = Case({"size": 1})
FAST, SLOW = (1e6,) * 6, (2e6,) * 6


def measured(*samples_ns: tuple[float, ...]) -> Measurement:
    times = tuple(Times(each, 6) for each in samples_ns)
    return Measurement(CASE, times, StoppedBy.PRECISION, 0.0, None, 1, 1)


def ended(*, by_opponent: bool = False) -> AuthorFailure:
    error = AuthorFailure(Verdict.RUNTIME_ERROR, "It was ended by SIGKILL.")
    error.of_opponent = by_opponent
    return error


def test_a_note_tells_of_the_second_attempt_and_why() -> None:
    assert Disputes().allow(Phase.TEST, ended()) == (
        "The test phase was judged twice; the submission's first attempt ended: "
        "It was ended by SIGKILL."
    )


@pytest.mark.parametrize(("phase", "expected"), [(Phase.TEST, 100.0), (Phase.LEADERBOARD, 0.0)])
def test_what_others_used_up_is_there_again_in_a_phase_of_tests(
    phase: Phase, expected: float
) -> None:
    late, disputes = AuthorFailure(Verdict.TIME_LIMIT, "late"), Disputes()
    late.excuse = "busy"
    disputes.allow(phase, late)
    assert expected == disputes.extra_s
    disputes.begin_step()
    assert 0.0 == disputes.extra_s


def test_before_any_there_is_no_more_time_and_nothing_to_compare_with() -> None:
    disputes = Disputes()
    assert (0.0, measured(FAST)) == (disputes.extra_s, disputes.worse(0, measured(FAST)))


def test_each_side_has_one_in_a_job() -> None:
    disputes = Disputes()
    granted = [
        disputes.allow(phase, ended(by_opponent=by_opponent)) is not None
        for phase, by_opponent in (
            (Phase.TEST, False),
            (Phase.LEADERBOARD, False),
            (Phase.LEADERBOARD, True),
            (Phase.LEADERBOARD, True),
        )
    ]
    assert [True, False, True, False] == granted


@pytest.mark.parametrize(("first", "second"), [(FAST, SLOW), (SLOW, FAST)])
def test_the_slower_measurement_counts(first: tuple[float, ...], second: tuple[float, ...]) -> None:
    disputes = Disputes()
    disputes.keep({0: measured(first)})
    disputes.allow(Phase.LEADERBOARD, ended())
    assert measured(SLOW) == disputes.worse(0, measured(second))


@pytest.mark.parametrize(("by_opponent", "counts"), [(False, (SLOW, FAST)), (True, (FAST, SLOW))])
def test_in_a_duel_it_is_the_worse_one_for_who_disputed(
    by_opponent: bool, counts: tuple[tuple[float, ...], ...]
) -> None:
    disputes = Disputes()
    disputes.keep({0: measured(SLOW, FAST)})
    disputes.allow(Phase.LEADERBOARD, ended(by_opponent=by_opponent))
    assert measured(*counts) == disputes.worse(0, measured(FAST, SLOW))


def test_another_workload_and_another_step_are_as_measured() -> None:
    disputes = Disputes()
    disputes.keep({0: measured(SLOW)})
    disputes.allow(Phase.BENCHMARK, ended())
    other = disputes.worse(1, measured(FAST))
    disputes.begin_step()
    assert [measured(FAST)] * 2 == [other, disputes.worse(0, measured(FAST))]
