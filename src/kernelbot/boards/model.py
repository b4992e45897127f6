"""Problems as their authors write them, and leaderboards, as frozen values."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from kernelbot.protocol import HarnessKind, ProblemSpec, RankRule, SourceFile


@dataclass(frozen=True)
class ProblemDefinition:
    """A problem as its author wrote it: what the harness needs, and what people read."""

    spec: ProblemSpec
    description: str
    devices: tuple[str, ...]
    """Names under `gpus` in task.yml."""
    templates: dict[str, str]
    """The starter files' texts by language (`Python`, `CUDA`, ...)."""
    solutions: tuple[SourceFile, ...] = ()
    """Those of `solutions/correct`. Only the platform judges them; nobody reads them here."""


class Visibility(StrEnum):
    """Who sees a board."""

    PUBLIC = "public"
    CLOSED = "closed"


@dataclass(frozen=True)
class Board:
    """A leaderboard: one problem, one ranking rule, some devices, maybe a deadline."""

    id: int
    name: str
    description: str
    problem_name: str
    problem_version_id: int
    harness: HarnessKind
    ranking_by: RankRule
    devices: tuple[str, ...]
    visibility: Visibility
    deadline: datetime | None
    created_at: datetime
    reveal_code: bool = False
    """Once the deadline has passed, everyone who sees the board may read its submissions."""
    fixed_seed: bool = False
    """All secret runs share one seed; else each has its own."""
    refuse_unavailable: bool = False
    """While a device takes no jobs, submissions for it are refused; else they wait."""
    outdated_scores: int = 0
    """Number of best scores that aren't ranked, because they are of an earlier problem version."""
    recurring_data: str = ""
    """Why nothing is ranked: of which workload calls get the same data again; or empty."""


@dataclass(frozen=True)
class BoardProblem:
    """A board's statement, starter files, and how it is judged."""

    board: Board
    description: str
    templates: dict[str, str]
    lang: str
    submission_name: str
    spec: ProblemSpec

    @property
    def files(self) -> tuple[SourceFile, ...]:
        """The reference and what comes with it."""
        return self.spec.files
