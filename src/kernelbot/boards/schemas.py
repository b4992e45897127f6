"""Boards, their problems and their standings."""

from dataclasses import field
from datetime import datetime
from typing import Annotated, Any

from kernelbot.boards.model import ProblemDefinition, Visibility
from kernelbot.boards.problem_hashes import definition_to_wire
from kernelbot.domain.bounds import Keep, OrKept, Within, storable
from kernelbot.domain.errors import InvalidProblem
from kernelbot.domain.values import described
from kernelbot.protocol import VersionMismatch, WireError, from_wire
from kernelbot.protocol.late import dataclass
from kernelbot.schemas.common import Moment, Name, RequestBody


@dataclass(frozen=True)
class NewBoard(RequestBody):
    """A board to create. `problem` is a ProblemDefinition in its wire form."""

    name: Name
    problem: dict[str, Any]
    deadline: Moment | None = None
    visibility: Visibility = Visibility.PUBLIC
    devices: Annotated[tuple[Name, ...], Within(max_length=100)] | None = field(
        default=None, metadata=described("Default: those the problem names.")
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


@dataclass(frozen=True)
class BoardChange(RequestBody):
    """What to change of a board; what is left out stays."""

    visibility: Visibility | None = None
    deadline: Annotated[datetime | Keep | None, OrKept(Moment | None)] = field(
        default_factory=lambda: Keep.KEEP, metadata=described("null: remove it.")
    )
    reveal_code: bool | None = field(
        default=None, metadata=described("Whether everyone may read the code after the deadline.")
    )
    fixed_seed: bool | None = field(
        default=None,
        metadata=described("Whether all secret runs share one seed; else each has its own."),
    )
    refuse_unavailable: bool | None = field(
        default=None,
        metadata=described(
            "Whether submissions for a device that takes no jobs are refused; else they wait."
        ),
    )
    try_on_cpu: bool | None = field(
        default=None,
        metadata=described(
            "Whether tests are also taken for processors that the board doesn't offer."
        ),
    )
