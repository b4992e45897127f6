"""What the groups of the client's methods are written on."""

from collections.abc import Mapping
from typing import Any, Protocol, TypeVar

from pydantic import BaseModel

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
