"""Tables in plain text."""

from collections.abc import Collection, Sequence


def table(
    headers: Sequence[str], rows: Sequence[Sequence[str]], right: Collection[str] = ()
) -> str:
    """Columns padded to their widest cell, two spaces between. `right`: the headers of
    the columns to align to the right. No trailing spaces, no rule lines."""
    lines = [list(headers), *(list(row) for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(headers))]
    return "\n".join(_line(line, widths, headers, right) for line in lines)


def _line(
    cells: Sequence[str], widths: Sequence[int], headers: Sequence[str], right: Collection[str]
) -> str:
    padded = (
        cell.rjust(width) if header in right else cell.ljust(width)
        for cell, width, header in zip(cells, widths, headers, strict=True)
    )
    return "  ".join(padded).rstrip()
