"""Submissions, their runs and the events of their lives."""

import json
from datetime import datetime

from pydantic import Field

from kernelbot.domain.states import ReviewState, RunState, SubmissionState
from kernelbot.moderation.reviews.model import Evidence
from kernelbot.preflight.model import Preflight
from kernelbot.protocol import Fault, Mode, Verdict
from kernelbot.ranking.model import NotRanked, ScoreComparison, ScoreInterval
from kernelbot.runs.model import Run
from kernelbot.runs.queue.model import DeviceQueuePosition
from kernelbot.runs.schemas import ResultView
from kernelbot.schemas.common import Answer, RequestBody, Text
from kernelbot.submissions.model import Submission


class RunView(Answer):
    """One submission on one device, public or secret."""

    id: int
    device: str
    mode: Mode
    secret: bool
    state: RunState
    verdict: Verdict | None
    score_s: float | None
    interval: ScoreInterval | None = Field(
        default=None,
        description="The 95 % interval of a ranked run's score, as in the ranking. Null: the run "
        "isn't ranked, or has no interval; that of one judging is in its result.",
    )
    attempts: int
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    fault: Fault | None
    message: str | None = Field(
        description="Why it was not accepted: a sentence, or a compiler's lines as they were."
    )
    unverified: bool = Field(default=False, description="Measured by the problem's own script.")
    repeats: int = Field(
        default=0,
        description="How often it was measured again, or is being, because its interval was wider "
        "than ±10 % or the machine was busy: before all other runs, alone, three times at most.",
    )
    result: ResultView | None = Field(
        description="None until finished, and where the asker may not see it: secret runs."
    )

    @classmethod
    def from_domain(cls, run: Run) -> "RunView":
        """The domain's run."""
        result = ResultView.from_domain(run.result) if run.result else None
        return cls.model_validate({**vars(run), "result": result})


class SubmissionView(Answer):
    """A submission with its runs. State, verdict, score and place are derived from them."""

    id: int
    board: str
    author: str
    file_name: str
    mode: Mode
    created_at: datetime
    state: SubmissionState
    verdict: Verdict | None
    score_s: float | None
    place: int | None = Field(description="The rank, if this is its author's best.")
    place_is_shared: bool = Field(
        default=False, description="Others have the same rank: nothing tells them apart."
    )
    queue_position: int | None = Field(
        default=None, description="1 is next; null when not waiting, and in lists."
    )
    wait_s: float | None = Field(
        default=None, description="A guess at how long it still waits; null: none can be made."
    )
    queue_note: str = Field(
        default="", description="Why nothing is judged on its device just now; empty: it is."
    )
    runs: list[RunView]
    code: str | None = Field(description="Null where the asker may not see it, and in lists.")
    review: ReviewState = ReviewState.CLEAR
    review_reason: str | None = Field(
        default=None, description="Why it is held or was refused; null while nothing was said."
    )
    evidence: tuple[Evidence, ...] = Field(
        default_factory=tuple, description="For organisers; empty for others, and in lists."
    )
    not_ranked: NotRanked | None = Field(
        default=None,
        description="Why its score isn't in the ranking; null: it is, it didn't ask to be, it "
        "isn't over, or it wasn't accepted.",
    )
    preflights: tuple[Preflight, ...] = Field(
        default=(),
        description="What compilers said of it before it had a GPU, for each that it was built "
        "for, beside its author's version before; empty in lists.",
    )
    comparisons: tuple[ScoreComparison, ...] = Field(
        default=(),
        description="Its score beside others, for each device, once it was accepted in mode "
        "leaderboard or benchmark; empty in lists.",
    )

    @classmethod
    def from_domain(
        cls,
        submission: Submission,
        place: DeviceQueuePosition | None = None,
        comparisons: tuple[ScoreComparison, ...] = (),
    ) -> "SubmissionView":
        """The domain's submission."""
        return cls(
            id=submission.id,
            board=submission.board,
            author=submission.author,
            file_name=submission.file_name,
            mode=submission.mode,
            created_at=submission.created_at,
            state=submission.state,
            verdict=submission.verdict,
            score_s=submission.score_s,
            place=submission.place,
            place_is_shared=submission.place_is_shared,
            queue_position=place.position if place else None,
            wait_s=place.wait_s if place else None,
            queue_note=place.note if place else "",
            runs=[RunView.from_domain(run) for run in submission.runs],
            code=submission.code,
            review=submission.review,
            review_reason=submission.review_reason,
            evidence=submission.evidence,
            not_ranked=submission.not_ranked,
            preflights=submission.preflights,
            comparisons=comparisons,
        )


class SubmissionList(Answer):
    """The newest first. Ask again with `before_id` for those before; None: that was all."""

    submissions: list[SubmissionView]
    next_before_id: int | None

    @staticmethod
    def of_json(submissions: list[bytes], next_before_id: int | None) -> bytes:
        """The list's JSON, of that of its submissions."""
        end = json.dumps(next_before_id).encode()
        return b'{"submissions":[%b],"next_before_id":%b}' % (b",".join(submissions), end)


class HeldList(Answer):
    """What waits for a decision, the oldest first, with its evidence and without results."""

    submissions: list[SubmissionView]


class Decision(RequestBody):
    """Why a submission is released or refused."""

    reason: Text = Field(
        max_length=2000,
        pattern=r"\S",
        description="For the audit log; of a refusal, its author's.",
    )
