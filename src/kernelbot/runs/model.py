"""Runs: one submission on one device, as frozen values."""

from dataclasses import field
from datetime import datetime
from typing import Annotated

from kernelbot.domain.states import RunState
from kernelbot.domain.values import SentAs, described
from kernelbot.protocol import Fault, Mode, RunResult, Verdict
from kernelbot.protocol.late import dataclass
from kernelbot.ranking.model import NotRanked, ScoreInterval
from kernelbot.runs.report import ResultView

ShownResult = Annotated[RunResult, SentAs(ResultView, ResultView.from_result, ResultView.to_result)]
"""A result, which JSON shows in a form of its own."""


@dataclass(frozen=True)
class RunRef:
    """A run with what a change of it affects: an author's standing on a board and device."""

    id: int
    submission_id: int | None
    """None for what is known to be right."""
    mode: Mode
    leaderboard_id: int
    device: str
    author_id: int
    rejudge_id: int | None
    """The rejudge that it belongs to; None for others."""
    duel_id: int | None
    """The duel that it executes; then `submission_id` wants to pass, or stands behind. None for a
    submission's run."""
    known_id: int | None
    """What is known to be right and is judged by it; None for others."""
    repeats: int
    """How often it was measured again because its interval was too wide or the machine busy."""
    is_not_offered: bool
    """Whether it is a test on a device that its board doesn't offer."""

    @property
    def followed_id(self) -> int | None:
        """The submission whose followers are told of it; None: one that nobody follows."""
        return self.submission_id if self.duel_id is None else None


@dataclass(frozen=True, kw_only=True)
class RunView:
    """One submission on one device, public or secret."""

    id: int
    device: str
    mode: Mode
    secret: bool
    state: RunState
    verdict: Verdict | None
    score_s: float | None
    interval: ScoreInterval | None = field(
        default=None,
        metadata=described(
            "The 95 % interval of a ranked run's score, as in the ranking. Null: the run isn't "
            "ranked, or has no interval; that of one judging is in its result."
        ),
    )
    attempts: int
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    fault: Fault | None
    message: str | None = field(
        metadata=described(
            "Why it was not accepted: a sentence, or a compiler's lines as they were."
        )
    )
    unverified: bool = field(
        default=False, metadata=described("Measured by the problem's own script.")
    )
    repeats: int = field(
        default=0,
        metadata=described(
            "How often it was measured again, or is being, because its interval was too wide or "
            "the machine busy: before all other runs, alone, three times at most."
        ),
    )
    result: ShownResult | None = field(
        metadata=described("None until finished, and where the asker may not see it: secret runs.")
    )


@dataclass(frozen=True, kw_only=True)
class Run(RunView):
    """A run with what only the server knows of it."""

    submission_id: int
    rejudge_id: int | None = None
    """The rejudge that measured it again; None for the submission's own runs."""
    not_ranked: NotRanked | None = None
    """Why an accepted secret run isn't in the ranking; None: it is, or it isn't such a run."""
