"""The magic itself: it reads the line, has the cell judged and displays the report."""

from functools import partial
from typing import TYPE_CHECKING

from IPython.core.error import UsageError

from kernelbot.domain.errors import KernelbotError, UserError
from kernelbot.notebook.options import MAGIC, CellOptions, read_line
from kernelbot.notebook.progress import CellProgress
from kernelbot.render.advice import error_text

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

    from kernelbot.library import Report
    from kernelbot.submissions.model import SubmissionView


def load_ipython_extension(shell: "InteractiveShell") -> None:
    """What `%load_ext kernelbot` calls."""
    shell.register_magic_function(partial(judge_cell, shell), "line_cell", MAGIC.strip("%"))


def judge_cell(shell: "InteractiveShell", line: str, cell: str | None = None) -> None:
    """Judge a cell, whose first line isn't part of it. None: the line stands alone (`%kernelbot`),
    as for help. Raises `UsageError`, which IPython shows without a traceback, for what isn't judged
    at all."""
    try:
        wanted = read_line(line if line or cell is not None else "--help", cell or "")
        if wanted is not None and cell is None:
            raise UserError(f"A line is no submission: write {MAGIC} at the top of a cell.")
        if wanted is not None and cell is not None:
            found = _judge(wanted, cell)
            if wanted.into:
                shell.push({wanted.into: found})
    except KernelbotError as error:
        raise UsageError(error_text(error)) from None


def _judge(wanted: CellOptions, cell: str) -> "Report | SubmissionView":
    from kernelbot.notebook.judging import judge_here, send

    with CellProgress() as progress:
        shown, found = (
            send(wanted, cell, progress)
            if wanted.problem is None
            else judge_here(wanted.problem, wanted, cell, progress)
        )
        progress.replace_by(shown)
    return found
