"""The server that a command talks to."""

from collections.abc import Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from typing import TYPE_CHECKING

from kernelbot.domain.errors import NotFound, UserError

if TYPE_CHECKING:
    from kernelbot.cli.terminal import Terminal
    from kernelbot.client import KernelbotClient


@contextmanager
def connect(
    url: str | None, terminal: "Terminal", *, board: str | None = None
) -> "Iterator[KernelbotClient]":
    """A client for the server that is found, which is printed if this account knows others as
    well. Within the block, input that the server would refuse (a name that is too long, a number
    out of bounds) raises `UserError`. `board`: the one that the command is about; if there is none
    of that name, the error suggests similar names."""
    from pydantic import ValidationError

    from kernelbot.client import KernelbotClient, Refused, find_endpoint
    from kernelbot.schemas.mistakes import what_is_wrong

    endpoint = find_endpoint(url)
    if endpoint.others:
        terminal.progress(f"Server: {endpoint.url} (from {endpoint.url_from})")
    with KernelbotClient.to(endpoint) as client:
        try:
            yield client
        except ValidationError as error:
            mistake = error.errors()[0]
            key = ".".join(str(part) for part in mistake["loc"])
            raise UserError(f"{key}: {what_is_wrong(mistake)}.") from None
        except Refused as error:
            if error.code == NotFound.code and board is not None:
                error.hint = _meant(client, board) or error.hint
            raise


def _meant(client: "KernelbotClient", board: str) -> str:
    """A hint at boards with a similar name; empty if there is a board of exactly this name."""
    names = {one.name.lower(): one.name for one in client.boards().boards}
    if board.lower() in names:
        return ""
    close = [names[name] for name in get_close_matches(board.lower(), names)]
    return f"Did you mean {' or '.join(close)}?" if close else "See: kernelbot board list"
