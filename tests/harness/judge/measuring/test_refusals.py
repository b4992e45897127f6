"""Whom a measurement blames."""

import pytest

from kernelbot.harness.inside.cage.loader import ProblemBroken
from kernelbot.harness.judge.measuring.refusals import SamplingTime, blame_for_too_few
from kernelbot.harness.words.failures import AuthorFailure


@pytest.mark.parametrize(
    ("spent", "kind", "said"),
    [
        (SamplingTime(0.5, 0.4, 0.4), AuthorFailure, "Do less"),
        (SamplingTime(0.5, 0.5, 0.5), AuthorFailure, "Do less"),
        (SamplingTime(0.3, 0.5, 0.4), ProblemBroken, "busy: 0.5 s"),
        (SamplingTime(0.3, 0.4, 0.5), ProblemBroken, "caches took 0.5 s"),
        (SamplingTime(0.3, 0.4, 0.4), ProblemBroken, "caches took 0.4 s"),
    ],
)
def test_what_took_most_of_the_time_is_blamed(
    spent: SamplingTime, kind: type[Exception], said: str
) -> None:
    found = blame_for_too_few("Too few.", spent)
    assert (kind, True) == (type(found), said in str(found))
