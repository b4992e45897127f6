"""Rewards for programs that learn or search: a rule is data, and computes a number of a report."""

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from kernelbot.domain.errors import UserError
from kernelbot.protocol import Verdict


class RewardKind(StrEnum):
    """What is rewarded."""

    CORRECT = "correct"
    """1 if it was accepted."""
    TESTS = "tests"
    """The share of the test cases that it passed."""
    SPEED = "speed"
    """How many times as fast as the baseline it is, with 95 % confidence."""
    LOG_SPEED = "log_speed"
    """The binary logarithm of that; 0 if it isn't faster."""


@dataclass(frozen=True)
class RewardRule:
    """How a report becomes a number. What was refused, or is suspicious, gets 0; only `TESTS` gives
    a part of 1 for a part of the tests."""

    kind: RewardKind
    accepted: float = 0.0
    """Added by `SPEED` and `LOG_SPEED` for what was accepted, however slow it is."""
    most_speed: float = 100.0
    """A larger speed counts as this one."""

    def __post_init__(self) -> None:
        """Raises `UserError` for a kind or numbers that make no rule. A kind may be its word."""
        object.__setattr__(self, "kind", _kind(self.kind))
        if not (math.isfinite(self.accepted) and math.isfinite(self.most_speed)):
            raise UserError("The numbers of a reward's rule must be finite.")
        if self.most_speed < 1:
            raise UserError("`most_speed` must be 1 at least: the baseline's own speed.")


def _kind(word: str) -> RewardKind:
    """Raises `UserError` if there is no such kind."""
    try:
        return RewardKind(word)
    except ValueError:
        known = ", ".join(RewardKind)
        raise UserError(f"No reward is called {word!r}.", hint=f"There is: {known}.") from None


class Rewarded(Protocol):
    """What a rule asks of a report."""

    @property
    def verdict(self) -> Verdict: ...

    @property
    def suspicions(self) -> tuple[str, ...]: ...

    @property
    def recurring_data(self) -> str: ...

    @property
    def passed_share(self) -> float: ...

    @property
    def speed_ci95(self) -> tuple[float, float] | None: ...


def rule_for(rule: RewardRule | str) -> RewardRule:
    """The rule, or the plain one of this kind. Raises `UserError` if there is no such kind."""
    return rule if isinstance(rule, RewardRule) else RewardRule(_kind(rule))


def reward(report: Rewarded, rule: RewardRule) -> float | None:
    """None if it couldn't be judged, which is no fault of its author's; nor can its speed be, if
    its problem's data recur: it may have remembered its answers. Raises `UserError` if the rule
    needs times of it and of a baseline, and the report has none."""
    if report.verdict is Verdict.INTERNAL_ERROR:
        return None
    if report.suspicions or report.verdict is Verdict.RULE_VIOLATION:
        return 0.0
    if rule.kind is RewardKind.TESTS:
        return report.passed_share
    if report.verdict is not Verdict.ACCEPTED:
        return 0.0
    if rule.kind is RewardKind.CORRECT:
        return 1.0
    return None if report.recurring_data else _for_speed(report, rule)


def _for_speed(report: Rewarded, rule: RewardRule) -> float:
    speed = report.speed_ci95
    if speed is None:
        raise UserError(
            f"The reward {rule.kind.value!r} needs a time of the kernel and of a baseline.",
            hint="Judge with mode='benchmark' or 'leaderboard', and with baseline=True.",
        )
    low = min(speed[0], rule.most_speed)
    if rule.kind is RewardKind.LOG_SPEED:
        return rule.accepted + max(0.0, math.log2(low))
    return rule.accepted + low
