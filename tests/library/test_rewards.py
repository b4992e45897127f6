from dataclasses import dataclass

import pytest

from kernelbot import RewardKind, RewardRule
from kernelbot.domain.errors import UserError
from kernelbot.library.rewards import reward, rule_for
from kernelbot.protocol import Verdict

ACCEPTED, WRONG = Verdict.ACCEPTED, Verdict.WRONG_ANSWER


@dataclass(frozen=True)
class Judged:
    """As much of a report as a rule reads."""

    verdict: Verdict = ACCEPTED
    suspicions: tuple[str, ...] = ()
    recurring_data: str = ""
    passed_share: float = 1.0
    speed_ci95: tuple[float, float] | None = (2.0, 8.0)


@pytest.mark.parametrize(
    ("expected", "rule", "judged"),
    [
        (1.0, "correct", Judged()),
        (0.0, "correct", Judged(WRONG, passed_share=0.5)),
        (1.0, "correct", Judged(speed_ci95=None)),
        (0.5, "tests", Judged(WRONG, passed_share=0.5)),
        (2.0, "speed", Judged()),
        (0.0, "speed", Judged(WRONG)),
        (1.0, "log_speed", Judged()),
        (0.0, "log_speed", Judged(speed_ci95=(0.5, 3.0))),
        (1.0, RewardRule(RewardKind.LOG_SPEED, accepted=1.0), Judged(speed_ci95=(0.5, 0.6))),
        (3.0, RewardRule(RewardKind.SPEED, accepted=1.0), Judged()),
        (1.5, RewardRule(RewardKind.SPEED, most_speed=1.5), Judged()),
    ],
)
def test_a_rule_makes_a_number_of_a_report(
    expected: float, rule: RewardRule | str, judged: Judged
) -> None:
    assert expected == reward(judged, rule_for(rule))


@pytest.mark.parametrize("kind", RewardKind)
def test_nothing_is_given_for_what_broke_a_rule_or_is_suspicious(kind: RewardKind) -> None:
    for judged in (Judged(Verdict.RULE_VIOLATION), Judged(suspicions=("Too fast.",))):
        assert 0.0 == reward(judged, RewardRule(kind))


@pytest.mark.parametrize("kind", RewardKind)
def test_there_is_no_reward_for_what_could_not_be_judged(kind: RewardKind) -> None:
    assert reward(Judged(Verdict.INTERNAL_ERROR), RewardRule(kind)) is None


@pytest.mark.parametrize(
    ("expected", "kind"),
    [(1.0, "correct"), (1.0, "tests"), (None, "speed"), (None, "log_speed")],
)
def test_no_speed_is_rewarded_of_what_may_have_remembered_its_answers(
    expected: float | None, kind: str
) -> None:
    assert expected == reward(Judged(recurring_data="It recurs."), rule_for(kind))
    assert 0.0 == reward(Judged(suspicions=("Too fast.",), recurring_data="x"), rule_for(kind))


def test_a_speed_without_a_baseline_is_a_mistake() -> None:
    with pytest.raises(UserError, match="needs a time"):
        reward(Judged(speed_ci95=None), RewardRule(RewardKind.SPEED))


@pytest.mark.parametrize("rule", ["fast", ""])
def test_an_unknown_kind_is_a_mistake(rule: str) -> None:
    with pytest.raises(UserError, match="No reward is called"):
        rule_for(rule)
    with pytest.raises(UserError, match="No reward is called"):
        RewardRule(rule)  # type: ignore[arg-type]  # programs aren't all checked


@pytest.mark.parametrize("kind", RewardKind)
def test_a_rule_may_be_made_of_its_kinds_word(kind: RewardKind) -> None:
    made = RewardRule(kind.value)  # type: ignore[arg-type]  # the same
    assert (RewardRule(kind), kind) == (made, made.kind)
    assert reward(Judged(), RewardRule(kind)) == reward(Judged(), made)


@pytest.mark.parametrize(("accepted", "most"), [(float("nan"), 2), (0, float("inf")), (0, 0.5)])
def test_numbers_that_make_no_rule_are_a_mistake(accepted: float, most: float) -> None:
    with pytest.raises(UserError):
        RewardRule(RewardKind.SPEED, accepted, most)
