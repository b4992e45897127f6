"""Tables as CSV, for spreadsheets and programs."""

import csv
import io
from collections.abc import Iterable, Sequence
from datetime import datetime

Cell = str | float | bool | datetime | None
_FORMULA = tuple("=+-@\uff1d\uff0b\uff0d\uff20")  # the wide ones as well
_MARKS = ("\t", "\r", "\n", *_FORMULA)


def csv_text(rows: Iterable[Sequence[Cell]]) -> str:
    """A line for each row: times in ISO 8601, nothing for None. A text that a
    spreadsheet would take for a formula gets an apostrophe in front."""
    out = io.StringIO()
    csv.writer(out).writerows([_written(cell) for cell in row] for row in rows)
    return out.getvalue()


def _written(cell: Cell) -> str | float | None:
    if isinstance(cell, datetime):
        return cell.isoformat()
    if isinstance(cell, str) and (cell.startswith(_MARKS) or cell.lstrip().startswith(_FORMULA)):
        return f"'{cell}"
    return cell
