"""A ranking as a table."""

from collections.abc import Sequence

from kernelbot.ranking.model import Standing
from kernelbot.render.csv_text import Cell, csv_text
from kernelbot.render.table import table
from kernelbot.render.text import one_line
from kernelbot.render.units import interval_text, seconds_text

COLUMNS = (
    "rank",
    "author",
    "score_s",
    "ci95_low_s",
    "ci95_high_s",
    "submission",
    "file",
    "submitted_at",
    "unverified",
)


def standings_csv(rows: Sequence[Standing]) -> str:
    """A line with the columns' names, then one per author, in the given order: for every door."""
    lines: list[tuple[Cell, ...]] = [COLUMNS]
    for row in rows:
        interval = row.ci95_s or (None, None)
        about = (row.submission_id, row.file_name, row.achieved_at, row.unverified)
        lines.append((row.rank, row.author, row.score_s, *interval, *about))
    return csv_text(lines)


def standings_table(rows: Sequence[Standing], columns: int | None = None) -> str:
    """One line per author, in the given order; a sentence if there is none. `columns`: the
    terminal's."""
    if not rows:
        return "Nobody is ranked here yet."
    headers = ("rank", "author", "score", "95% of it", "submission", "file")
    cells = [
        (
            str(row.rank),
            one_line(row.author),
            seconds_text(row.score_s),
            interval_text(row.ci95_s[0] * 1e9, row.ci95_s[1] * 1e9) if row.ci95_s else "",
            f"#{row.submission_id}",
            one_line(row.file_name) + (" (unverified)" if row.unverified else ""),
        )
        for row in rows
    ]
    return table(
        headers, cells, right=("rank", "score", "95% of it", "submission"), columns=columns
    )
