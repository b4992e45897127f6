"""How episodes go, chosen when the server starts: data, and what follows from them."""

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TypeVar

from kernelbot.domain.errors import UserError
from kernelbot.library.rewards import RewardKind, RewardRule, rule_for
from kernelbot.protocol import Mode

E = TypeVar("E", bound=StrEnum)
MAX_ATTEMPTS = 1000
MAX_SESSIONS = 10_000
_SPEED = RewardRule(RewardKind.SPEED)
_TIMED = (RewardKind.SPEED, RewardKind.LOG_SPEED)


class Payment(StrEnum):
    """When an episode's rewards are given."""

    EACH = "each"
    """Each attempt has the reward of its own report."""
    GAIN = "gain"
    """Each attempt has what it added to the episode's best: the sum of an episode is its best."""
    END = "end"
    """The last attempt has the episode's best, the others 0."""


class HeldOut(StrEnum):
    """What no observation shows, and the last reward of an episode is decided by."""

    NOTHING = "nothing"
    """The rewards are those of the reports."""
    DATA = "data"
    """All cases, with data from a seed that nobody is told."""
    WORKLOADS = "workloads"
    """The same, and a third of the cases isn't among those that attempts are judged by."""


@dataclass(frozen=True)
class EpisodeRules:
    """The same for all episodes of a server."""

    reward: RewardRule = _SPEED
    payment: Payment = Payment.END
    held_out: HeldOut = HeldOut.DATA
    attempts: int = 4
    device: str | None = None
    """None: the judge's first."""

    def __post_init__(self) -> None:
        """Raises `UserError` for attempts that can't be."""
        if not 1 <= self.attempts <= MAX_ATTEMPTS:
            raise UserError(f"An episode has from 1 to {MAX_ATTEMPTS} attempts.")

    @property
    def is_timed(self) -> bool:
        """Whether the rule needs times of a source and of its problem's reference."""
        return self.reward.kind in _TIMED

    @property
    def mode(self) -> Mode:
        return Mode.BENCHMARK if self.is_timed else Mode.TEST

    @property
    def last_mode(self) -> Mode:
        """How the best source is judged on what is held out: as ranked ones are."""
        return Mode.LEADERBOARD if self.is_timed else Mode.TEST

    @property
    def most(self) -> float | None:
        """The largest reward of a report: nothing is gained by going on. None: of a timed rule."""
        return None if self.is_timed else 1.0


@dataclass(frozen=True)
class SessionLimits:
    """How many sessions there may be at once, and how long each may do nothing."""

    most: int = 100
    idle_s: float = 600.0

    def __post_init__(self) -> None:
        """Raises `UserError` for limits that can't be."""
        if not 1 <= self.most <= MAX_SESSIONS:
            raise UserError(f"A server has from 1 to {MAX_SESSIONS} sessions.")
        if not self.idle_s > 0:
            raise UserError("A session must be allowed to be idle for some time.")


def reward_rule(kind: str, *, accepted: float, most_speed: float) -> RewardRule:
    """Raises `UserError` if there is no such kind, or for numbers that make no rule."""
    return replace(rule_for(kind), accepted=accepted, most_speed=most_speed)


def payment_of(word: str) -> Payment:
    """Raises `UserError`."""
    return _one_of(Payment, word, "payment")


def held_out_of(word: str) -> HeldOut:
    """Raises `UserError`."""
    return _one_of(HeldOut, word, "way of holding out")


def _one_of(kind: type[E], word: str, noun: str) -> E:
    try:
        return kind(word)
    except ValueError:
        known = ", ".join(kind)
        raise UserError(f"There is no {noun} {word!r}.", hint=f"There is: {known}.") from None
