"""What attempts are worth, by rules alone."""

from dataclasses import replace

import pytest

from kernelbot.environment.messages import Action
from kernelbot.environment.settings import EpisodeRules, HeldOut, Payment
from kernelbot.environment.steps import (
    MOST_LOST,
    EpisodeProgress,
    HeldOutResult,
    JudgedAttempt,
    after,
    payment,
    unconfirmed,
)
from kernelbot.library.rewards import RewardKind, RewardRule
from kernelbot.protocol import Verdict

SPEED = EpisodeRules(attempts=3)
TESTS = replace(SPEED, reward=RewardRule(RewardKind.TESTS))
ACTION = Action(source="x")


def held_out(reward: float | None) -> HeldOutResult:
    return HeldOutResult(verdict=Verdict.ACCEPTED, reward=reward, score_s=None)


def paid(
    payment_rule: Payment, own: list[float | None], last: HeldOutResult | None = None
) -> list[float | None]:
    """What each of an episode's attempts is paid."""
    rules = replace(SPEED, payment=payment_rule)
    progress, found = EpisodeProgress(), []
    for reward in own:
        judged = JudgedAttempt("x", reward=reward)
        before, progress = progress, after(progress, judged, ACTION, rules)
        seen = last if progress.is_done else None
        given = payment(payment_rule, judged, before, progress, seen)
        progress = replace(progress, paid=progress.paid + (given or 0.0))
        found.append(given)
    return found


@pytest.mark.parametrize(
    ("expected", "rule", "last"),
    [
        ([1.0, 3.0, 2.0], Payment.EACH, None),
        ([1.0, 2.0, 0.0], Payment.GAIN, None),
        ([0.0, 0.0, 3.0], Payment.END, None),
        ([1.0, 3.0, 2.5], Payment.EACH, held_out(2.5)),
        ([1.0, 2.0, -0.5], Payment.GAIN, held_out(2.5)),
        ([0.0, 0.0, 2.5], Payment.END, held_out(2.5)),
        ([1.0, 2.0, -3.0], Payment.GAIN, held_out(0.0)),
        ([1.0, 2.0, None], Payment.GAIN, held_out(None)),
    ],
)
def test_attempts_are_paid_by_the_rule(
    expected: list[float | None], rule: Payment, last: HeldOutResult | None
) -> None:
    assert expected == paid(rule, [1.0, 3.0, 2.0], last)


@pytest.mark.parametrize("rule", Payment)
def test_what_could_not_be_judged_is_paid_nothing_and_uses_up_no_attempt(rule: Payment) -> None:
    assert 4 == len(paid(rule, [1.0, None, 3.0, 2.0]))
    assert paid(rule, [1.0, None, 3.0, 2.0])[1] is None


@pytest.mark.parametrize("rule", Payment)
def test_an_episode_of_which_nothing_could_be_judged_is_worth_nothing_known(rule: Payment) -> None:
    assert [None] * MOST_LOST == paid(rule, [None] * MOST_LOST)


@pytest.mark.parametrize("rule", [Payment.END, Payment.GAIN])
def test_a_lost_attempt_at_the_end_leaves_what_the_best_is_worth(rule: Payment) -> None:
    assert 2.0 == sum(each or 0.0 for each in paid(rule, [2.0, *[None] * MOST_LOST]))


@pytest.mark.parametrize(
    ("expected", "rule", "hidden", "is_done"),
    [
        (2.0, Payment.GAIN, HeldOut.DATA, False),
        (2.0, Payment.GAIN, HeldOut.WORKLOADS, False),
        (0.0, Payment.GAIN, HeldOut.DATA, True),
        (0.0, Payment.GAIN, HeldOut.NOTHING, False),
        (0.0, Payment.EACH, HeldOut.DATA, False),
    ],
)
def test_what_was_paid_in_advance_is_unconfirmed_until_the_end(
    expected: float, rule: Payment, hidden: HeldOut, is_done: bool
) -> None:
    rules = EpisodeRules(payment=rule, held_out=hidden)
    last = held_out(1.0) if is_done else None
    assert expected == unconfirmed(rules, EpisodeProgress(paid=2.0, is_done=is_done), last)


@pytest.mark.parametrize(("expected", "rule"), [(2.0, Payment.GAIN), (0.0, Payment.EACH)])
def test_so_it_is_after_an_end_at_which_nothing_could_be_judged(
    expected: float, rule: Payment
) -> None:
    ended = EpisodeProgress(paid=2.0, is_done=True)
    rules = EpisodeRules(payment=rule, held_out=HeldOut.DATA)
    assert expected == unconfirmed(rules, ended, held_out(None))


def test_nothing_is_paid_in_advance_unless_that_is_asked_for() -> None:
    assert Payment.END is EpisodeRules().payment


def test_an_episode_ends_with_its_attempts() -> None:
    progress = EpisodeProgress()
    for is_done in (False, False, True):
        progress = after(progress, JudgedAttempt("x", reward=0.5), ACTION, SPEED)
        assert is_done == progress.is_done


def test_an_episode_ends_when_the_action_says_so() -> None:
    ends = after(
        EpisodeProgress(), JudgedAttempt("x", reward=0.5), Action(source="x", is_last=True), SPEED
    )
    assert ends.is_done


def test_an_episode_ends_once_nothing_more_can_be_gained() -> None:
    whole, part = JudgedAttempt("x", reward=1.0), JudgedAttempt("x", reward=0.9)
    assert (True, False) == (
        after(EpisodeProgress(), whole, ACTION, TESTS).is_done,
        after(EpisodeProgress(), part, ACTION, TESTS).is_done,
    )
    assert not after(EpisodeProgress(), whole, ACTION, SPEED).is_done


def test_an_episode_ends_that_could_not_be_judged_again_and_again() -> None:
    progress = EpisodeProgress()
    for _ in range(MOST_LOST):
        assert not progress.is_done
        progress = after(progress, JudgedAttempt("x", reward=None), ACTION, SPEED)
    assert (True, 0) == (progress.is_done, progress.used)


def test_the_best_is_the_first_with_the_highest_reward() -> None:
    progress = EpisodeProgress()
    for source, reward in (("a", 0.5), ("b", 0.7), ("c", 0.7)):
        progress = after(progress, JudgedAttempt(source, reward=reward), ACTION, SPEED)
    assert progress.best is not None
    assert ("b", 2) == (progress.best_source, progress.best.attempt)
