"""`submission pull` and `submission diff`: the code that was sent."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from kernelbot.cli.completion import submission_numbers
from kernelbot.cli.declaring import Argument, Commands, Option
from kernelbot.cli.examples import examples
from kernelbot.cli.options import Force, Json, Url
from kernelbot.cli.session import connected
from kernelbot.cli.writing import write_file
from kernelbot.domain.errors import NotAllowed

if TYPE_CHECKING:
    from kernelbot.submissions.model import SubmissionView


def register(group: Commands) -> None:
    """Add the commands to `submission`."""
    group.command(
        epilog=examples(
            "kernelbot submission pull 12", "kernelbot submission pull 12 --to best.py --force"
        )
    )(pull)
    group.command(
        epilog=examples(
            "kernelbot submission diff 12 15",
            "kernelbot submission diff 12 mine.py     # a file on this disk",
        )
    )(diff)


def pull(
    submission_id: Annotated[
        int,
        Argument(min=1, help="The submission's number.", autocompletion=submission_numbers),
    ],
    to: Annotated[
        Path | None, Option("--to", help="The file to write. Default: the name it had.")
    ] = None,
    force: Force = False,
    url: Url = None,
    as_json: Json = False,
) -> None:
    """Write a submission's code to a file, to go on from there."""
    with connected(url, as_json) as (terminal, client):
        found = client.submission(submission_id)
    # The name is a stranger's: the last part of it, and in this folder.
    file = to or Path(Path(found.file_name).name)
    write_file(file, _code(found), force=force)
    again = shlex.join(["kernelbot", "submit", str(file), "--board", found.board])
    terminal.show(f"Wrote {file}. To send it again: {again}")
    terminal.document({"id": found.id, "board": found.board, "file": str(file)})


def diff(
    first: Annotated[str, Argument(help="A submission's number, or a file.")],
    second: Annotated[str, Argument(help="Another one.")],
    url: Url = None,
    as_json: Json = False,
) -> None:
    """What differs between the code of two submissions, or of one and a file."""
    from kernelbot.drawing.differences import between

    with connected(url, as_json) as (terminal, client):
        sources = [
            _code(client.submission(int(named))) if _is_number(named) else _file(Path(named))
            for named in (first, second)
        ]
    before, after = sources
    found = "\n".join(between(before, after, _label(first), _label(second)))
    terminal.show(found or "They are the same.")
    terminal.document({"from": _label(first), "to": _label(second), "diff": found})


def _is_number(named: str) -> bool:
    return named.isascii() and named.isdigit() and len(named) <= 18  # digits of a bigint


def _label(named: str) -> str:
    return f"submission {named}" if _is_number(named) else named


def _file(path: Path) -> str:
    from kernelbot.catalog.sources import read_source
    from kernelbot.submissions.source import source_text

    return source_text(read_source(path))


def _code(found: SubmissionView) -> str:
    """Raises `NotAllowed` if the asker may not read it."""
    if found.code is None:
        raise NotAllowed(
            f"You may not read the code of submission {found.id}.",
            hint="It is its author's, unless its board reveals code after the deadline.",
        )
    return found.code
