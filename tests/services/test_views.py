"""What an author sees of a run on secret data."""

import pytest

from kernelbot.protocol import Verdict
from kernelbot.services.views import FAILED_UNSEEN, REFUSED_UNSEEN, shown_of_secret


@pytest.mark.parametrize(
    "verdict", [v for v in Verdict if v not in (Verdict.ACCEPTED, Verdict.RULE_VIOLATION)]
)
def test_a_way_of_failing_stays_secret(verdict: Verdict) -> None:
    assert (Verdict.WRONG_ANSWER, FAILED_UNSEEN) == shown_of_secret(verdict)


@pytest.mark.parametrize("verdict", [Verdict.RULE_VIOLATION, "rule_violation"])
def test_the_rules_are_named_when_they_refuse(verdict: str) -> None:
    assert (Verdict.RULE_VIOLATION, REFUSED_UNSEEN) == shown_of_secret(verdict)
