"""Questions to a person, by typer, which is loaded to ask them."""

import sys

from kernelbot.cli.declaring import Exit
from kernelbot.cli.errors import INTERRUPTED


def ask(question: str, *, default: str | None = None, hidden: bool = False) -> str:
    """What the person answers. Raises `Exit`, as Ctrl-C does elsewhere, if they give up."""
    import typer

    try:
        return str(typer.prompt(question, default=default, hide_input=hidden, err=True))
    except typer.Abort:
        raise _given_up() from None


def confirm(question: str) -> bool:
    """Whether the person says yes. Raises `Exit` if they give up."""
    import typer

    try:
        return bool(typer.confirm(question, err=True))
    except typer.Abort:
        raise _given_up() from None


def _given_up() -> Exit:
    print(file=sys.stderr)  # the question's line isn't ended
    return Exit(INTERRUPTED)
