"""Boards, their problems and their standings."""

from datetime import datetime
from typing import Any

from pydantic import AwareDatetime, Field

from kernelbot.boards.model import Board, BoardProblem, ProblemDefinition, Visibility
from kernelbot.domain.errors import InvalidProblem
from kernelbot.protocol import HarnessKind, RankRule, VersionMismatch, WireError, from_wire, to_wire
from kernelbot.ranking.model import StandingsPage
from kernelbot.schemas.common import Answer, Name, RequestBody, Shown, storable


class BoardView(Answer):
    """A leaderboard."""

    name: str
    description: str
    problem: str
    problem_version_id: int
    harness: HarnessKind
    ranking_by: RankRule
    devices: list[str]
    visibility: Visibility
    deadline: datetime | None
    created_at: datetime
    reveal_code: bool = Field(
        default=False, description="Everyone may read the code once the deadline has passed."
    )
    fixed_seed: bool = Field(
        default=False, description="All secret runs share one seed; else each has its own."
    )
    refuse_unavailable: bool = Field(
        default=False,
        description="Submissions for a device that takes no jobs are refused; else they wait.",
    )
    outdated_scores: int = Field(
        default=0,
        description="Best scores that aren't ranked: they are of an earlier version.",
    )
    recurring_data: str = Field(
        default="",
        description="Why nothing is ranked: timed calls get the same data again. Or empty.",
    )

    @classmethod
    def of(cls, board: Board) -> "BoardView":
        """The domain's board, without its id: a board's name identifies it everywhere."""
        return cls(
            name=board.name,
            description=board.description,
            problem=board.problem_name,
            problem_version_id=board.problem_version_id,
            harness=board.harness,
            ranking_by=board.ranking_by,
            devices=list(board.devices),
            visibility=board.visibility,
            deadline=board.deadline,
            created_at=board.created_at,
            reveal_code=board.reveal_code,
            fixed_seed=board.fixed_seed,
            refuse_unavailable=board.refuse_unavailable,
            outdated_scores=board.outdated_scores,
            recurring_data=board.recurring_data,
        )


class BoardList(Answer):
    """Every board the asker may see."""

    boards: list[BoardView]


class ProblemView(Answer):
    """What is to be solved, and the files to start from."""

    board: str
    problem: str
    description: str
    lang: str
    submission_name: str = Field(description="The submission's file name while it is judged.")
    templates: dict[str, str] = Field(description="Starter files by language, e.g. `Python`.")

    @classmethod
    def of(cls, problem: BoardProblem) -> "ProblemView":
        """The domain's statement."""
        return cls(
            board=problem.board.name,
            problem=problem.board.problem_name,
            description=problem.description,
            lang=problem.lang,
            submission_name=problem.submission_name,
            templates=problem.templates,
        )


class StandingView(Shown):
    """An author's best on a board and device."""

    rank: int
    author: str
    author_id: int
    score_s: float
    ci95_s: tuple[float, float] | None
    submission_id: int
    file_name: str
    achieved_at: datetime
    unverified: bool = Field(description="Measured by the problem's own script.")


class StandingsView(Answer):
    """One page of a ranking; `total` counts all its rows."""

    board: str
    device: str
    total: int
    standings: list[StandingView]

    @classmethod
    def of(cls, page: StandingsPage) -> "StandingsView":
        """The domain's page."""
        rows = [StandingView.of(row) for row in page.rows]
        return cls(board=page.board.name, device=page.device, total=page.total, standings=rows)


class NewBoard(RequestBody):
    """A board to create. `problem` is a ProblemDefinition in its wire form."""

    name: Name
    problem: dict[str, Any]
    deadline: AwareDatetime | None = None
    visibility: Visibility = Visibility.PUBLIC
    devices: list[Name] | None = Field(
        default=None, description="Default: those the problem names.", max_length=100
    )

    def definition(self) -> ProblemDefinition:
        """The problem. Raises `InvalidProblem` if it isn't one or can't be stored."""
        try:
            _check_text(self.problem)
            return from_wire(ProblemDefinition, self.problem)
        except RecursionError:
            raise InvalidProblem("The problem is nested too deeply.") from None
        except (WireError, VersionMismatch, ValueError) as error:
            raise InvalidProblem(f"The problem can't be read: {error}.") from None


def problem_to_wire(definition: ProblemDefinition) -> dict[str, Any]:
    """What `NewBoard.problem` holds."""
    return to_wire(definition)


def _check_text(value: Any) -> None:
    if isinstance(value, str):
        storable(value)
    elif isinstance(value, dict):
        for key, item in value.items():
            storable(key)
            _check_text(item)
    elif isinstance(value, list):
        for item in value:
            _check_text(item)


class BoardChange(RequestBody):
    """What to change of a board; what is left out stays."""

    visibility: Visibility | None = None
    deadline: AwareDatetime | None = Field(default=None, description="null: remove it.")
    reveal_code: bool | None = Field(
        default=None, description="Whether everyone may read the code after the deadline."
    )
    fixed_seed: bool | None = Field(
        default=None, description="Whether all secret runs share one seed; else each has its own."
    )
    refuse_unavailable: bool | None = Field(
        default=None,
        description="Whether submissions for a device that takes no jobs are refused; else they "
        "wait.",
    )
