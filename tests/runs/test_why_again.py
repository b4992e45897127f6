"""Why a run is measured again."""

from dataclasses import replace

import pytest

from kernelbot.protocol import Mode
from kernelbot.runs.repeats import TOO_WIDE, why_again
from tests.fakes.host import result_of
from tests.harness.jobs import SORT, a_job

JOB = a_job(SORT, mode=Mode.LEADERBOARD, secret=True)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["accepted", "1", "0.95", "1.05"], ""),
        (["accepted", "1", "0.8", "1.2"], TOO_WIDE),
    ],
)
def test_a_quiet_machine_measures_again_what_it_measured_badly(
    words: list[str], expected: str
) -> None:
    assert expected == why_again(result_of(JOB, words))


def test_a_busy_machine_measures_again_what_looks_well() -> None:
    assert "busy" in why_again(result_of(JOB, ["accepted", "busy"]))


def test_nothing_is_measured_again_without_a_score() -> None:
    busy = result_of(JOB, ["accepted", "busy"])
    assert "" == why_again(replace(busy, score_s=None))
