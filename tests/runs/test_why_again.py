"""Why a run is measured again."""

from dataclasses import replace

import pytest

from kernelbot.protocol import Mode, SamplingRules
from kernelbot.runs.repeats import why_again
from tests.fakes.host import result_of
from tests.harness.jobs import SORT, a_job

JOB = a_job(SORT, mode=Mode.LEADERBOARD, secret=True)
RULES = SamplingRules()
TOO_WIDE = "its interval is wider than ±10 %, so it is measured again, alone"


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
    assert expected == why_again(result_of(JOB, words), RULES)


@pytest.mark.parametrize(("widest", "expected"), [(0.4, ""), (0.3, TOO_WIDE.replace("10", "15"))])
def test_a_platform_may_rank_what_is_known_less_well(widest: float, expected: str) -> None:
    result = result_of(JOB, ["accepted", "1", "0.8", "1.2"])
    assert expected == why_again(result, replace(RULES, widest_relative_ci=widest))


def test_a_busy_machine_measures_again_what_looks_well() -> None:
    assert "busy" in why_again(result_of(JOB, ["accepted", "busy"]), RULES)


def test_nothing_is_measured_again_without_a_score() -> None:
    busy = result_of(JOB, ["accepted", "busy"])
    assert "" == why_again(replace(busy, score_s=None), RULES)
