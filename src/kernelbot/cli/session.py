"""The server that a command talks to."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from kernelbot.cli.declaring import Exit
from kernelbot.cli.errors import INTERRUPTED
from kernelbot.cli.terminal import Terminal
from kernelbot.cli.token_end import warn_once_a_day
from kernelbot.domain.errors import NotFound, UserError
from kernelbot.domain.next_steps import Next

if TYPE_CHECKING:
    from kernelbot.client import KernelbotClient, Refused


@contextmanager
def connect(
    url: str | None, terminal: Terminal, *, board: str | None = None
) -> "Iterator[KernelbotClient]":
    """A client for the server that is found, which is printed if this account knows others as
    well. Within the block, input that the server would refuse (a name that is too long, a number
    out of bounds) raises `UserError`. `board`: the one that the command is about; if there is none
    of that name, the error suggests similar names."""
    from kernelbot.client import KernelbotClient, Refused, find_endpoint

    endpoint = find_endpoint(url)
    if endpoint.others:
        terminal.progress(f"Server: {endpoint.url} (from {endpoint.url_from})")
    with KernelbotClient.to(endpoint) as client:
        try:
            yield client
        except Exit as ended:  # as submissions are followed to their exit code
            if ended.exit_code != INTERRUPTED:
                warn_once_a_day(client, endpoint, terminal)
            raise
        except Refused as error:
            if error.code == NotFound.code and board is not None:
                _suggest(client, board, error)
            raise
        except ValueError as error:
            if (wrong := _mistake(error)) is None:
                raise
            raise UserError(wrong) from None
        else:
            warn_once_a_day(client, endpoint, terminal)


@contextmanager
def connected(
    url: str | None, as_json: bool, *, board: str | None = None
) -> "Iterator[tuple[Terminal, KernelbotClient]]":
    """Where a command prints, and what `connect` gives."""
    terminal = Terminal(as_json)
    with connect(url, terminal, board=board) as client:
        yield terminal, client


def _mistake(error: ValueError) -> str | None:
    """What is wrong with what a command was given; None if the error is another one."""
    if "pydantic" not in sys.modules:  # its errors are of none of its models
        return None
    from pydantic import ValidationError

    from kernelbot.schemas.mistakes import what_is_wrong

    if not isinstance(error, ValidationError):
        return None
    mistake = error.errors()[0]
    key = ".".join(str(part) for part in mistake["loc"])
    return f"{key}: {what_is_wrong(mistake)}."


def _suggest(client: "KernelbotClient", board: str, error: "Refused") -> None:
    """Make the error suggest boards with a similar name, or their list; unless there is a board of
    exactly this name: then something else was missing."""
    from difflib import get_close_matches

    names = {one.name.lower(): one.name for one in client.boards().boards}
    if board.lower() in names:
        return
    close = [names[name] for name in get_close_matches(board.lower(), names)]
    if close:
        error.hint, error.next_step = f"Did you mean {' or '.join(close)}?", None
    else:
        error.next_step = Next.LIST_BOARDS
