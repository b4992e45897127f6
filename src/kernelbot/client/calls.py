"""What the groups of the client's methods are written on."""

from collections.abc import Mapping
from typing import Any, Protocol, TypeVar
from urllib.parse import quote

from pydantic import BaseModel

from kernelbot.domain.errors import UserError

Model = TypeVar("Model", bound=BaseModel)
Query = Mapping[str, str | int | bool | None]


class Caller(Protocol):
    """Asks the API one question. Raises `Refused`, `Unreachable` or `BadAnswer`."""

    def ask(
        self,
        model: type[Model],
        method: str,
        path: str,
        *,
        query: Query | None = None,
        body: BaseModel | None = None,
    ) -> Model:
        """The answer, read as `model`. What is None in `query` is left out."""
        ...

    def tell(self, method: str, path: str, **content: Any) -> None:
        """A question whose answer has no body."""
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
    """Of text that isn't Unicode: what a terminal hands over for bytes that aren't UTF-8."""
    return UserError(f"{text!r} isn't text in UTF-8.")
