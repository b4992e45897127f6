"""A board's duels: as a table, and one of them by workload."""

from collections.abc import Sequence

from kernelbot.duels.model import Duel
from kernelbot.protocol import DuelWorkload
from kernelbot.render.duel import how_measured, ratios_table
from kernelbot.render.table import table
from kernelbot.render.text import indent, one_line

NOT_BY_WORKLOAD = (
    "By workload it is shown to those who may see both submissions; on a board whose secret runs "
    "all have the same data, to admins."
)


def duels_table(duels: Sequence[Duel], columns: int | None = None) -> str:
    """One line per duel, in the given order; a sentence if there is none. `columns`: the
    terminal's."""
    if not duels:
        return "There was no duel here yet."
    headers = ("duel", "device", "submission", "author", "against", "author", "outcome")
    cells = [
        (
            str(duel.id),
            one_line(duel.device),
            f"#{duel.submission_id}",
            one_line(duel.author),
            f"#{duel.opponent_id}",
            one_line(duel.opponent),
            one_line(duel.sentence),
        )
        for duel in duels
    ]
    return table(headers, cells, right=("duel", "submission", "against"), columns=columns)


def duel_by_workload(
    duel: Duel, workloads: Sequence[DuelWorkload], columns: int | None = None
) -> str:
    """Who against whom, the ratio of each workload that is given, and what came of it last.
    `workloads`: none if nothing was measured, or it isn't for the reader. `columns`: as in
    `duel_text`."""
    width = None if columns is None else columns - 2
    head = f"Duel {duel.id} on {one_line(duel.device)}, board {one_line(duel.board)}"
    first = f"A: submission {duel.submission_id} by {one_line(duel.author)}"
    second = f"B: submission {duel.opponent_id} by {one_line(duel.opponent)}"
    parts = [f"{head}\n{first}\n{second}"]
    if workloads:
        parts += [indent(ratios_table(workloads, width), "  "), how_measured(workloads)]
    elif duel.ratio is not None:
        parts.append(NOT_BY_WORKLOAD)
    return "\n\n".join([*parts, one_line(duel.sentence)])
