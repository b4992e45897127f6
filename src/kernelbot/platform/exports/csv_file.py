"""Writes exported submissions as CSV, without their code: spreadsheets cut off a cell of 32 KiB."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import astuple, fields
from pathlib import Path
from typing import TextIO

from kernelbot.platform.exports.model import ExportRow, ExportRun
from kernelbot.platform.exports.pseudonyms import pseudonym
from kernelbot.render.csv_text import Cell, csv_text

COLUMNS = (
    "submission",
    "board",
    "competition",
    "problem",
    "problem_version",
    "author",
    "mode",
    "review",
    "submitted_at",
    *(one.name for one in fields(ExportRun)),
)


class CsvFile:
    """One line per run. `rows`: the submissions written so far."""

    def __init__(self, file: TextIO, key: bytes) -> None:
        self._file = file
        self._key = key
        self.rows = 0

    def write(self, rows: list[ExportRow]) -> None:
        """Append the runs of some submissions. Blocks."""
        self._file.write(
            csv_text((*self._about(row), *astuple(run)) for row in rows for run in row.runs)
        )
        self.rows += len(rows)

    def _about(self, row: ExportRow) -> tuple[Cell, ...]:
        return (
            pseudonym(self._key, "submission", row.submission_id),
            row.board,
            row.competition,
            row.problem,
            row.problem_version,
            pseudonym(self._key, "user", row.author_id),
            row.mode,
            row.review,
            row.created_at,
        )


@contextmanager
def csv_file(path: Path, key: bytes) -> Iterator[CsvFile]:
    """A file to be written, complete when the block ends."""
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(csv_text([COLUMNS]))
        yield CsvFile(file, key)
