"""What an attempt came to, and what that is worth: pure functions."""

from dataclasses import dataclass, replace
from datetime import datetime

from kernelbot.environment.messages import Action, Best, HeldOutReport, SourceKind
from kernelbot.environment.settings import EpisodeRules, HeldOut, Payment
from kernelbot.library.reports import Report

MOST_LOST = 3
"""After so many attempts that couldn't be judged an episode ends."""


@dataclass(frozen=True)
class JudgedAttempt:
    """An attempt, before anything is made of it. Exactly one of `refusal` and `report` is there."""

    source: str
    """The program; if it couldn't be read or applied, how the action's text begins."""
    refusal: str = ""
    report: Report | None = None
    reward: float | None = None
    """By its own report; None: it couldn't be judged, by nobody's fault."""

    @property
    def is_lost(self) -> bool:
        """Whether the attempt isn't counted."""
        return self.reward is None


@dataclass(frozen=True)
class EpisodeProgress:
    """How far an episode is."""

    used: int = 0
    """Attempts."""
    lost: int = 0
    """Actions that couldn't be judged."""
    best: Best | None = None
    best_source: str = ""
    paid: float = 0.0
    """All rewards until now."""
    is_done: bool = False


class HeldOutResult(HeldOutReport):
    """The same with what records alone have: an observation shows no time of what is held out."""

    score_s: float | None


@dataclass(frozen=True)
class EpisodeStep:
    """An answered action, as it is recorded."""

    judged: JudgedAttempt
    kind: SourceKind
    reward: float | None
    """What it was paid."""
    is_last: bool
    began_at: datetime
    duration_s: float


def after(
    progress: EpisodeProgress, judged: JudgedAttempt, action: Action, rules: EpisodeRules
) -> EpisodeProgress:
    used, lost = progress.used + (not judged.is_lost), progress.lost + judged.is_lost
    best, best_source = progress.best, progress.best_source
    if judged.reward is not None and (best is None or judged.reward > best.reward):
        score_s = judged.report.score_s if judged.report else None
        best = Best(attempt=used, reward=judged.reward, score_s=score_s)
        best_source = judged.source
    is_best_possible = best is not None and best.reward == rules.most
    is_done = action.is_last or is_best_possible or used >= rules.attempts or lost >= MOST_LOST
    return replace(
        progress, used=used, lost=lost, best=best, best_source=best_source, is_done=is_done
    )


def payment(
    rule: Payment,
    judged: JudgedAttempt,
    before: EpisodeProgress,
    now: EpisodeProgress,
    held_out: HeldOutResult | None,
) -> float | None:
    """The reward of an attempt; None if it couldn't be judged, or at an episode's end all attempts,
    or its best on what is held out."""
    if not now.is_done:
        return None if judged.is_lost else _on_the_way(rule, judged, before, now)
    if now.best is None:
        return None
    worth = _reward(now.best) if held_out is None else held_out.reward
    if worth is None:
        return None
    match rule:
        case Payment.GAIN:
            return worth - before.paid
        case Payment.END:
            return worth
        case Payment.EACH:
            return judged.reward if held_out is None else worth


def unconfirmed(
    rules: EpisodeRules, progress: EpisodeProgress, held_out: HeldOutResult | None
) -> float:
    """What an episode was paid in advance, and is taken back if its end doesn't confirm it; nor
    does an end on whose held-out data nothing could be judged."""
    is_advance = rules.payment is Payment.GAIN and rules.held_out is not HeldOut.NOTHING
    is_lost = held_out is not None and held_out.reward is None
    return progress.paid if is_advance and (is_lost or not progress.is_done) else 0.0


def _on_the_way(
    rule: Payment, judged: JudgedAttempt, before: EpisodeProgress, now: EpisodeProgress
) -> float | None:
    match rule:
        case Payment.EACH:
            return judged.reward
        case Payment.GAIN:
            return _reward(now.best) - _reward(before.best)
        case Payment.END:
            return 0.0


def _reward(best: Best | None) -> float:
    return best.reward if best else 0.0
