"""What organisers ask of a server."""

from typing import Any, Protocol, TypeVar
from urllib.parse import quote

from pydantic import BaseModel

from kernelbot.schemas.upkeep import Deleted

Model = TypeVar("Model", bound=BaseModel)


class Call(Protocol):
    """`KernelbotClient.call`."""

    def __call__(self, model: type[Model], method: str, path: str, **content: Any) -> Model:
        """The answer to a request below `/api/v1`."""


class OrganiserCalls:
    """One method per route, raising as `KernelbotClient`'s do."""

    def __init__(self, call: Call) -> None:
        self._call = call

    def delete_board(self, name: str, *, force: bool = False) -> Deleted:
        """Delete a board; with `force` also one that has submissions."""
        return self._call(
            Deleted, "DELETE", f"/boards/{_part(name)}", params={"force": str(force).lower()}
        )

    def delete_submission(self, submission_id: int) -> Deleted:
        """Delete one submission."""
        return self._call(Deleted, "DELETE", f"/submissions/{submission_id}")

    def delete_submissions_of(self, board: str, user: str) -> Deleted:
        """Delete all of one person's on a board."""
        path = f"/boards/{_part(board)}/submissions"
        return self._call(Deleted, "DELETE", path, params={"user": user})


def _part(name: str) -> str:
    return quote(name, safe="")
