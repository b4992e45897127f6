"""The shapes of answers, as those clients spell them."""

from datetime import datetime
from typing import Any, Literal

from pydantic import Field

from kernelbot.boards.invites.model import Invite
from kernelbot.boards.limits.model import LimitCategory, RateLimit
from kernelbot.boards.model import Board, Visibility
from kernelbot.domain.values import from_fields
from kernelbot.platform.statistics.model import Statistics
from kernelbot.ranking.model import NotRanked, Standing, StandingsPage
from kernelbot.runs.devices.model import DeviceStatus
from kernelbot.schemas.models import Answer


class ErrorAnswer(Answer):
    """Why a request was not fulfilled: no more than those clients know."""

    detail: str = Field(description="One sentence for people, with what to do next.")
    code: str = Field(description="A word for machines, e.g. `not_found`.")


class BoardItem(Answer):
    """A board in the list. Never its tests, files or seeds: `task` says only what it is."""

    id: int
    name: str
    description: str
    task: dict[str, str] = Field(description="Required by clients; says the language.")
    deadline: datetime | None
    gpu_types: list[str]
    visibility: str

    @classmethod
    def from_domain(cls, board: Board) -> "BoardItem":
        """The domain's board."""
        return from_fields(cls, board, task={}, gpu_types=list(board.devices))


class RunnerQueue(Answer):
    """How busy a device is. `error` says why it isn't available."""

    runner: str | None
    gpu: str
    queued_jobs: int | None
    running_jobs: int | None
    available_runners: int | None
    status: Literal["available", "unavailable"]
    error: str | None

    @classmethod
    def from_domain(cls, name: str, device: DeviceStatus | None) -> "RunnerQueue":
        """The domain's device; None: there is none of that name."""
        if device is None:
            return cls(
                runner=None,
                gpu=name,
                queued_jobs=None,
                running_jobs=None,
                available_runners=None,
                status="unavailable",
                error="There is no such device here.",
            )
        return cls(
            runner=device.launcher,
            gpu=device.name,
            queued_jobs=device.queued,
            running_jobs=device.running,
            available_runners=None,
            status="available" if device.available else "unavailable",
            error=device.note or None,
        )


class RankedEntry(Answer):
    """An author's best on a board and device."""

    submission_name: str
    submission_id: int
    user_id: str
    user_name: str
    submission_time: datetime
    submission_score: float
    rank: int
    leaderboard_name: str
    gpu_type: str
    unverified: bool = Field(description="Measured by the problem's own script.")

    @classmethod
    def from_standing(cls, page: StandingsPage, row: Standing) -> "RankedEntry":
        """A row of the domain's page."""
        return cls(
            submission_name=row.file_name,
            submission_id=row.submission_id,
            user_id=str(row.author_id),
            user_name=row.author,
            submission_time=row.achieved_at,
            submission_score=row.score_s,
            rank=row.rank,
            leaderboard_name=page.board,
            gpu_type=page.device,
            unverified=row.unverified,
        )


class Count(Answer):
    """How many there are."""

    count: int


class AcceptedDetails(Answer):
    """What a client polls for. A job is known by its submission's id."""

    id: int
    job_status_id: int


class Accepted(Answer):
    """A submission was stored and will be judged."""

    details: AcceptedDetails
    runner_queue: RunnerQueue
    status: Literal["accepted"] = "accepted"


class RunItem(Answer):
    """One phase of one run. `score` in seconds; `result` only of public tests and benchmarks."""

    start_time: datetime | None
    end_time: datetime | None
    mode: str
    secret: bool
    runner: str
    score: float | None
    passed: bool
    unverified: bool = Field(description="Measured by the problem's own script.")
    result: dict[str, Any] | None = None


class JobItem(Answer):
    """How the judging goes. `error` is for the author to read."""

    status: str
    error: str | None
    last_heartbeat: datetime | None


class SubmissionDetails(Answer):
    """One submission. `done` and the final `job.status` are read from one state."""

    id: int
    leaderboard_id: int
    leaderboard_name: str
    file_name: str
    user_id: str
    submission_time: datetime
    done: bool
    code: str | None
    runs: list[RunItem]
    job: JobItem | None
    runner_queue: RunnerQueue | None
    not_ranked: NotRanked | None = Field(description="Why it isn't in the ranking, if not.")


class ScoreItem(Answer):
    """A device and the score there."""

    gpu_type: str
    score: float | None
    unverified: bool = Field(description="Measured by the problem's own script.")


class SubmissionItem(Answer):
    """A submission in its author's list."""

    id: int
    leaderboard_name: str
    file_name: str
    submission_time: datetime
    done: bool
    runs: list[ScoreItem]
    not_ranked: NotRanked | None = Field(description="Why it isn't in the ranking, if not.")


class Ok(Answer):
    """It was done."""

    status: Literal["ok"] = "ok"


class BoardOpened(Ok):
    """A new board's name."""

    leaderboard: str


class AnySubmission(SubmissionDetails):
    """A submission as an organiser reads it."""

    submission_id: int
    user_name: str


class SubmissionShown(Ok):
    """One submission."""

    submission: AnySubmission


class Accepting(Ok):
    """Whether submissions are taken."""

    accepts_jobs: bool


class BanSet(Ok):
    """Whether somebody is banned now."""

    user_id: str
    banned: bool


class VisibilitySet(Ok):
    """Who sees a board now."""

    leaderboard: str
    visibility: Visibility


class LimitItem(Answer):
    """How many submissions of a category an author may make in an hour."""

    mode_category: LimitCategory
    max_submissions_per_hour: int

    @classmethod
    def from_domain(cls, limit: RateLimit) -> "LimitItem":
        """The domain's limit."""
        return cls(mode_category=limit.category, max_submissions_per_hour=limit.max_per_hour)


class LimitList(Ok):
    """The limits of a board."""

    leaderboard: str
    rate_limits: list[LimitItem]


class LimitSet(Ok):
    """The limit that holds now."""

    rate_limit: LimitItem


class LimitRemoved(Ok):
    """A limit that was removed."""

    leaderboard: str
    mode_category: LimitCategory


class InvitesMade(Ok):
    """New invites to boards."""

    leaderboards: list[str]
    codes: list[str]


class InviteItem(Answer):
    """An invite; who claimed it, if somebody did. `code`: empty if it opens others' boards too."""

    code: str
    user_id: str | None
    user_name: str | None
    claimed_at: datetime | None
    created_at: datetime

    @classmethod
    def from_domain(cls, invite: Invite) -> "InviteItem":
        """The domain's invite."""
        return cls(
            code=invite.code or "",
            user_id=None if invite.claimed_by_id is None else str(invite.claimed_by_id),
            user_name=invite.claimed_by,
            claimed_at=invite.claimed_at,
            created_at=invite.created_at,
        )


class InviteList(Answer):
    """The invites of a board."""

    invites: list[InviteItem]


class InviteRevoked(Ok):
    """An invite that is no longer valid."""

    code: str
    was_claimed: bool


class Joined(Ok):
    """The boards that an invite has opened."""

    leaderboards: list[str]


class SubmissionDeleted(Ok):
    """A submission that was deleted."""

    submission_id: int


class SubmissionsDeleted(Ok):
    """All of a person's submissions on a board, deleted."""

    leaderboard_id: int
    user_name: str
    deleted_submissions: int


class SubmissionIds(Ok):
    """Some of a board's submissions."""

    leaderboard: str
    limit: int
    offset: int
    submission_ids: list[int]


class BoardDeleted(Ok):
    """A board that was deleted."""

    leaderboard: str
    force: bool


class StatsShown(Ok):
    """Figures by name, those of a device as `name.DEVICE`; delays and times in seconds."""

    stats: dict[str, int | float | None]


def stats_values(found: Statistics) -> dict[str, int | float | None]:
    """The domain's statistics under the names that organisers know."""
    values: dict[str, int | float | None] = {
        "num_leaderboards": found.boards,
        "num_submissions": found.submissions,
        "num_users": found.authors,
        "num_runs": found.runs,
        "runs_passed": found.passes,
    }
    for device in found.devices:
        values |= {
            f"num_run.{device.device}": device.runs,
            f"runs_passed.{device.device}": device.passes,
            f"runs_failed.{device.device}": device.failures,
            f"runs_lost.{device.device}": device.errors,
            f"waiting.{device.device}": device.waiting,
            f"running.{device.device}": device.running,
            f"median_delay.{device.device}": device.wait_median_s,
            f"max_delay.{device.device}": device.wait_longest_s,
            f"median_runtime.{device.device}": device.run_median_s,
            f"total_runtime.{device.device}": device.run_total_s,
        }
    return values
