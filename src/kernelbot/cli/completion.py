"""What a shell offers for a word, asked of the server: nothing if the server can't be asked."""

from typing import TYPE_CHECKING, TypeVar

from kernelbot.cli.session import connect
from kernelbot.cli.terminal import Terminal
from kernelbot.domain.errors import KernelbotError

if TYPE_CHECKING:
    from collections.abc import Callable

    from kernelbot.client import KernelbotClient

T = TypeVar("T")

_LATEST = 20
"""How many submissions are offered."""


def board_names(incomplete: str) -> list[str]:
    """The boards that this person may see."""
    names = _asked(lambda client: [board.name for board in client.boards().boards])
    return _beginning(names, incomplete)


def device_names(incomplete: str) -> list[str]:
    """The devices of these boards."""
    names = _asked(lambda client: [name for one in client.boards().boards for name in one.devices])
    return _beginning(sorted(set(names)), incomplete)


def submission_numbers(incomplete: str) -> list[tuple[str, str]]:
    """This person's latest submissions, each with its file and board."""
    found = _asked(lambda client: client.submissions(limit=_LATEST).submissions)
    named = [(str(one.id), f"{one.file_name} on {one.board}") for one in found]
    return [(number, text) for number, text in named if number.startswith(incomplete)]


def _asked(ask: "Callable[[KernelbotClient], list[T]]") -> list[T]:
    """Whatever goes wrong is no matter of somebody who is still typing."""
    try:
        with connect(None, Terminal(as_json=True)) as client:
            return ask(client)
    except KernelbotError:
        return []


def _beginning(names: list[str], incomplete: str) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]
