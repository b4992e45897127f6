"""What a shell offers for a word, asked of the server: nothing if the server can't be asked.

Somebody waits for it at each press of a key, so nothing is loaded that reads models of answers.
"""

import json
from collections.abc import Callable
from typing import Any, TypeVar

from kernelbot.client.endpoint import find_endpoint
from kernelbot.domain.errors import KernelbotError

T = TypeVar("T")
_LATEST = 20
"""How many submissions are offered."""
_PATIENCE_S = 5.0


def board_names(incomplete: str) -> list[str]:
    """The boards that this person may see."""
    names = _asked("/boards", lambda answer: [str(board["name"]) for board in answer["boards"]])
    return _beginning(names, incomplete)


def device_names(incomplete: str) -> list[str]:
    """The devices of these boards."""
    names = _asked(
        "/boards",
        lambda answer: [str(name) for board in answer["boards"] for name in board["devices"]],
    )
    return _beginning(sorted(set(names)), incomplete)


def submission_numbers(incomplete: str) -> list[tuple[str, str]]:
    """The person's latest submissions, each with its file and board."""
    named = _asked(
        f"/submissions?limit={_LATEST}",
        lambda answer: [
            (str(one["id"]), f"{one['file_name']} on {one['board']}")
            for one in answer["submissions"]
        ],
    )
    return [(number, text) for number, text in named if number.startswith(incomplete)]


def _asked(path: str, read: Callable[[Any], list[T]]) -> list[T]:
    """What `read` finds in the server's answer. Whatever goes wrong is no matter of somebody who
    is still typing."""
    from kernelbot.client.http import connected
    from kernelbot.client.tokens import OwnToken

    try:
        endpoint = find_endpoint()
        connection = connected(endpoint.url, OwnToken(endpoint.token), _PATIENCE_S)
        try:
            answer = connection.request("GET", f"/api/v1{path}")
        finally:
            connection.close()
        return read(json.loads(answer.content)) if answer.is_success else []
    except (KernelbotError, ValueError, LookupError, TypeError):
        return []


def _beginning(names: list[str], incomplete: str) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]
