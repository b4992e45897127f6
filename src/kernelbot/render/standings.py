"""A ranking as a table."""

from collections.abc import Sequence

from kernelbot.ranking.model import Standing
from kernelbot.render.csv_text import Cell, csv_text
from kernelbot.render.table import table
from kernelbot.render.text import one_line
from kernelbot.render.units import interval_text, percent_text, seconds_text

SHARED_RANK = (
    "=1 is a shared rank: the 95 % interval overlaps that of the first who has the rank, and the "
    "score is at most a tenth above."
)
"""What is said below a ranking in which somebody shares a rank."""

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


def rank_text(rank: int, shared: bool) -> str:
    """`1`, or `=1` if others have the same rank."""
    return f"={rank}" if shared else str(rank)


def standings_table(
    rows: Sequence[Standing], columns: int | None = None, *, leader_s: float | None = None
) -> str:
    """One line per author, in the given order; a sentence if there is none. `columns`: the
    terminal's. `leader_s`: the score of the first of the ranking; None: the rows begin with it."""
    if not rows:
        return "Nobody is ranked here yet."
    first_s = rows[0].score_s if leader_s is None else leader_s
    headers = ("rank", "author", "score", "95 % interval", "vs leader", "submission", "file")
    cells = [
        (
            rank_text(row.rank, row.shared),
            one_line(row.author),
            seconds_text(row.score_s),
            interval_text(row.ci95_s[0] * 1e9, row.ci95_s[1] * 1e9) if row.ci95_s else "",
            percent_text(row.score_s / first_s - 1) if row.score_s > first_s else "",
            f"#{row.submission_id}",
            one_line(row.file_name) + (" (unverified)" if row.unverified else ""),
        )
        for row in rows
    ]
    right = ("rank", "score", "95 % interval", "vs leader", "submission")
    return table(headers, cells, right=right, columns=columns)
