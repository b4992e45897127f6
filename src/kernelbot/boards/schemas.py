"""Boards, their problems and their standings."""

from typing import Any

from pydantic import AwareDatetime, Field

from kernelbot.boards.model import ProblemDefinition, Visibility
from kernelbot.boards.problem_hashes import definition_to_wire
from kernelbot.domain.errors import InvalidProblem
from kernelbot.protocol import VersionMismatch, WireError, from_wire
from kernelbot.schemas.common import Name, RequestBody, storable


class NewBoard(RequestBody):
    """A board to create. `problem` is a ProblemDefinition in its wire form."""

    name: Name
    problem: dict[str, Any]
    deadline: AwareDatetime | None = None
    visibility: Visibility = Visibility.PUBLIC
    devices: list[Name] | None = Field(
        default=None, description="Default: those the problem names.", max_length=100
    )

    def definition(self) -> ProblemDefinition:
        """The problem. Raises `InvalidProblem` if it isn't one or can't be stored."""
        try:
            _check_text(self.problem)
            return from_wire(ProblemDefinition, self.problem)
        except RecursionError:
            raise InvalidProblem("The problem is nested too deeply.") from None
        except (WireError, VersionMismatch, ValueError) as error:
            raise InvalidProblem(f"The problem can't be read: {error}.") from None


def problem_to_wire(definition: ProblemDefinition) -> dict[str, Any]:
    """What `NewBoard.problem` holds."""
    return definition_to_wire(definition)


def _check_text(value: Any) -> None:
    if isinstance(value, str):
        storable(value)
    elif isinstance(value, dict):
        for key, item in value.items():
            storable(key)
            _check_text(item)
    elif isinstance(value, list):
        for item in value:
            _check_text(item)


class BoardChange(RequestBody):
    """What to change of a board; what is left out stays."""

    visibility: Visibility | None = None
    deadline: AwareDatetime | None = Field(default=None, description="null: remove it.")
    reveal_code: bool | None = Field(
        default=None, description="Whether everyone may read the code after the deadline."
    )
    fixed_seed: bool | None = Field(
        default=None, description="Whether all secret runs share one seed; else each has its own."
    )
    refuse_unavailable: bool | None = Field(
        default=None,
        description="Whether submissions for a device that takes no jobs are refused; else they "
        "wait.",
    )
    try_on_cpu: bool | None = Field(
        default=None,
        description="Whether tests are also taken for processors that the board doesn't offer.",
    )
