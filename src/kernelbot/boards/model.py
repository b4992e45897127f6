"""Problems as their authors write them, and leaderboards, as frozen values."""

from dataclasses import field
from datetime import datetime
from enum import StrEnum

from kernelbot.domain.values import described
from kernelbot.protocol import HarnessKind, Lang, ProblemSpec, RankRule, SourceFile
from kernelbot.protocol.late import dataclass


class Difficulty(StrEnum):
    """How hard a problem is, in the words of who wrote it."""

    EASY = "easy"
    MEDIUM = "medium"
    HARD = "hard"


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
    summary: str = ""
    """One sentence; empty: the first one of the description stands for it."""
    difficulty: Difficulty | None = None
    tags: tuple[str, ...] = ()


@dataclass(frozen=True)
class ProblemSummary:
    """What boards say of their problem. `sentence` may be empty."""

    sentence: str = field(metadata=described("What is to be solved, in one sentence; or empty."))
    lang: Lang
    difficulty: Difficulty | None
    tags: tuple[str, ...]

    @property
    def facts(self) -> str:
        """All but the sentence, for a line of text."""
        words = [self.lang.label, *([self.difficulty] if self.difficulty else []), *self.tags]
        return ", ".join(words)


class Visibility(StrEnum):
    """Who sees a board."""

    PUBLIC = "public"
    CLOSED = "closed"


@dataclass(frozen=True)
class NamedBoard:
    """A leaderboard: one problem, one ranking rule, some devices, perhaps a deadline. Outside of
    the platform its name identifies it."""

    name: str
    description: str
    problem: str
    problem_version_id: int
    harness: HarnessKind
    ranking_by: RankRule
    devices: tuple[str, ...]
    visibility: Visibility
    deadline: datetime | None
    created_at: datetime
    reveal_code: bool = field(
        default=False,
        metadata=described("Everyone may read the code once the deadline has passed."),
    )
    fixed_seed: bool = field(
        default=False, metadata=described("All secret runs share one seed; else each has its own.")
    )
    refuse_unavailable: bool = field(
        default=False,
        metadata=described(
            "Submissions for a device that takes no jobs are refused; else they wait."
        ),
    )
    outdated_scores: int = field(
        default=0,
        metadata=described("Best scores that aren't ranked: they are of an earlier version."),
    )
    recurring_data: str = field(
        default="",
        metadata=described("Why nothing is ranked: timed calls get the same data again. Or empty."),
    )
    try_on_cpu: bool = field(
        default=False,
        metadata=described("Tests are also taken for a processor that the board doesn't offer."),
    )
    about: ProblemSummary | None = field(
        default=None,
        metadata=described("Its problem in short; null: the server is of an earlier release."),
    )


@dataclass(frozen=True)
class Board(NamedBoard):
    """A leaderboard with its number in the database."""

    id: int = field(kw_only=True)


@dataclass(frozen=True)
class RankingSize:
    """How many authors a ranking has. `version` changes whenever a page may have changed, or which
    scores count."""

    authors: int
    version: int


@dataclass(frozen=True)
class OwnedBoard:
    """A board, who created it, and whether the viewer is invited to it (if it is closed)."""

    board: Board
    creator_id: int
    invited: bool
    rankings: dict[str, RankingSize]
    """By device."""

    @property
    def visibility(self) -> Visibility:
        return self.board.visibility


@dataclass(frozen=True)
class Destination:
    """The board that a submission is for. `max_per_hour` None: any number."""

    id: int
    name: str
    problem_version_id: int
    creator_id: int
    visibility: Visibility
    deadline: datetime | None
    invited: bool
    devices: tuple[str, ...]
    max_per_hour: int | None
    lang: Lang
    refuse_unavailable: bool
    try_on_cpu: bool
    recurring_data: str
    """What `Board.recurring_data` is."""


@dataclass(frozen=True)
class Statement:
    """What is to be solved, and the files to start from."""

    board: str
    problem: str
    description: str
    lang: str
    submission_name: str = field(
        metadata=described("The submission's file name while it is judged.")
    )
    templates: dict[str, str] = field(
        metadata=described("Starter files by language, e.g. `Python`.")
    )


@dataclass(frozen=True)
class BoardProblem(Statement):
    """A statement with its board, and how submissions are judged."""

    leaderboard: Board
    spec: ProblemSpec

    @property
    def files(self) -> tuple[SourceFile, ...]:
        """The reference and what comes with it."""
        return self.spec.files
