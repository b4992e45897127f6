"""What is exported of submissions, without names."""

from dataclasses import field
from datetime import datetime
from enum import StrEnum

from kernelbot.domain.errors import UserError
from kernelbot.domain.values import described
from kernelbot.protocol.late import dataclass


class ExportFormat(StrEnum):
    """How a file is written, and how its name ends. Parquet: a row for each submission, with its
    code. CSV: a row for each run, without."""

    PARQUET = "parquet"
    CSV = "csv"


def format_of(file_name: str) -> ExportFormat:
    """The format that a file's name asks for. Raises `UserError` for any other."""
    for one in ExportFormat:
        if file_name.lower().endswith(f".{one}"):
            return one
    raise UserError(
        f"{file_name!r} must end in .parquet (a row for each submission, with its code) "
        "or .csv (a row for each run)."
    )


@dataclass(frozen=True)
class ExportRun:
    """A run as it is exported. Scores are in seconds; None if there is none."""

    device: str
    secret: bool
    state: str
    verdict: str | None
    score_s: float | None
    ci_low_s: float | None
    ci_high_s: float | None
    ranked_low_s: float | None
    ranked_high_s: float | None
    unverified: bool
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None


@dataclass(frozen=True)
class ExportRow:
    """A submission as it is exported. File names may name people, so they stay here."""

    submission_id: int
    board: str
    competition: str | None
    problem: str
    problem_version: int
    author_id: int
    """Becomes a pseudonym when it is written."""
    mode: str
    review: str
    created_at: datetime
    code: str
    runs: tuple[ExportRun, ...]


@dataclass(frozen=True)
class ExportChoice:
    """Boards by name or number; if both are empty, all boards."""

    names: tuple[str, ...] = ()
    ids: tuple[int, ...] = ()


@dataclass(frozen=True)
class ExportRules:
    """`key`: the key of the pseudonyms; None: one that is made once and kept in the database.
    `token`, `repository` (`owner/name`), `endpoint`: of the dataset on the Hugging Face Hub. None
    for token or repository: nothing is uploaded. None for the endpoint: the Hub's own."""

    key: str | None = None
    token: str | None = None
    repository: str | None = None
    endpoint: str | None = None
    license: str = "other"
    """The license by the name that the dataset's card has for it."""


@dataclass(frozen=True)
class Exported:
    """What was uploaded, and where to."""

    where: str = field(metadata=described("The file's path, or the dataset's URL."))
    boards: tuple[str, ...]
    submissions: int
