"""Tables in plain text."""

from collections.abc import Collection, Sequence

from kernelbot.render.text import cell_len, cut

_GAP = "  "
_LEAST_CELLS = 6
"""Columns aren't made narrower than this."""


def table(
    headers: Sequence[str],
    rows: Sequence[Sequence[str]],
    right: Collection[str] = (),
    *,
    columns: int | None = None,
) -> str:
    """Columns padded to their widest cell, two spaces between. `right`: the headers of
    the columns to align to the right. `columns`: the terminal's; the widest columns are cut to
    fit into them (None: there is no such limit). No trailing spaces, no rule lines."""
    widths = widths_of(headers, rows)
    if columns is not None:
        widths = _fitting(widths, columns)
    return "\n".join(_line(line, widths, headers, right) for line in (headers, *rows))


def widths_of(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> list[int]:
    """The terminal cells that each column takes if none is cut."""
    return [max(map(cell_len, column)) for column in zip(headers, *rows, strict=True)]


def width_of(widths: Sequence[int]) -> int:
    """What a table with such columns takes."""
    return sum(widths) + len(_GAP) * (len(widths) - 1)


def _fitting(widths: Sequence[int], columns: int) -> list[int]:
    """The widest columns narrowed until all fit, or none can be narrowed any more."""
    fitting = list(widths)
    excess = width_of(fitting) - columns
    while excess > 0 and max(fitting) > _LEAST_CELLS:
        fitting[fitting.index(max(fitting))] -= 1
        excess -= 1
    return fitting


def _line(
    cells: Sequence[str], widths: Sequence[int], headers: Sequence[str], right: Collection[str]
) -> str:
    padded = (
        _padded(cut(cell, width), width, to_the_right=header in right)
        for cell, width, header in zip(cells, widths, headers, strict=True)
    )
    return _GAP.join(padded).rstrip()


def _padded(cell: str, width: int, *, to_the_right: bool) -> str:
    spaces = " " * (width - cell_len(cell))
    return spaces + cell if to_the_right else cell + spaces
