"""What a shell offers for a word, asked of the server: nothing if the server can't be asked.

Somebody waits for it at each press of a key, so the server is asked with the standard library:
loading the client and the models of its answers takes longer than all else.
"""

import json
from collections.abc import Callable
from typing import Any, TypeVar

from kernelbot.client.endpoint import find_endpoint
from kernelbot.domain.errors import UserError

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
    from http.client import HTTPException
    from urllib.request import HTTPRedirectHandler, Request, build_opener

    class Stays(HTTPRedirectHandler):
        """A token is for the server that it was made by, so no other is asked."""

        def redirect_request(self, *_: object) -> None:
            """Refuses each."""

    try:
        endpoint = find_endpoint()
        headers = {"Authorization": f"Bearer {endpoint.token}"} if endpoint.token else {}
        request = Request(f"{endpoint.url}/api/v1{path}", headers=headers)  # noqa: S310 (http)
        with build_opener(Stays).open(request, timeout=_PATIENCE_S) as answer:
            return read(json.load(answer))
    except (UserError, OSError, HTTPException, ValueError, LookupError, TypeError):
        return []


def _beginning(names: list[str], incomplete: str) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]
