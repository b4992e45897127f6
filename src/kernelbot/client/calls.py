"""What all groups of the client's methods need."""

from collections.abc import Mapping
from typing import Any, Protocol, TypeVar
from urllib.parse import quote

from pydantic import BaseModel

from kernelbot.domain.errors import UserError

Model = TypeVar("Model")
Query = Mapping[str, str | int | bool | None]


class Caller(Protocol):
    """Sends one request to the API. Raises `Refused`, `Unreachable` or `BadAnswer`."""

    def ask(
        self,
        model: type[Model],
        method: str,
        path: str,
        *,
        query: Query | None = None,
        body: BaseModel | None = None,
    ) -> Model:
        """The answer, read as `model`. Keys with None in `query` are left out."""
        ...

    def text(self, path: str, query: Query) -> str:
        """The answer to a reading request as it is. Keys with None are left out."""
        ...

    def send(self, method: str, path: str, **content: Any) -> None:
        """A request whose answer has no body."""
        ...


def part(name: str) -> str:
    """A name as one part of a path. Raises `UserError` for what can't be one."""
    if name in ("", ".", ".."):
        raise UserError(f"{name!r} can't be a name.")
    try:
        return quote(name, safe="")
    except UnicodeEncodeError:
        raise unsendable(name) from None


def unsendable(text: str) -> UserError:
    """The error for text that isn't Unicode: a terminal gives that for bytes that aren't UTF-8."""
    return UserError(f"{text!r} isn't text in UTF-8.")
