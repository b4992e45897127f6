"""Duels as a table."""

from collections.abc import Sequence

from kernelbot.domain.duels import Duel
from kernelbot.render.table import table
from kernelbot.render.text import one_line


def duels_table(duels: Sequence[Duel], columns: int | None = None) -> str:
    """One line per duel, in the given order; a sentence if there is none. `columns`: the
    terminal's."""
    if not duels:
        return "There was no duel here yet."
    headers = ("device", "submission", "author", "against", "author", "outcome")
    cells = [
        (
            one_line(duel.device),
            f"#{duel.submission_id}",
            one_line(duel.author),
            f"#{duel.opponent_id}",
            one_line(duel.opponent),
            one_line(duel.sentence),
        )
        for duel in duels
    ]
    return table(headers, cells, right=("submission", "against"), columns=columns)
