"""What bodies of requests and parameters of routes share. Times are UTC, in ISO 8601 with a zone.

A body is a frozen dataclass, whose bounds pydantic checks on the server; a command of the terminal
checks and sends it without pydantic.
"""

from datetime import datetime
from typing import Annotated, Any, ClassVar

from kernelbot.domain.bounds import Within
from kernelbot.domain.ids import BIGINT_MAX

NAME_MAX = 200
NO_CONTROL = r"^[^\x00-\x1f\x7f]+$"

Text = Annotated[str, Within()]
"""Any text that can be stored."""

Name = Annotated[str, Within(min_length=1, max_length=NAME_MAX, pattern=NO_CONTROL)]
"""A name as people type it: no control characters."""

Id = Annotated[int, Within(ge=1, le=BIGINT_MAX)]
"""A database id."""

Moment = Annotated[datetime, Within(tz_constraint="aware")]


class NothingElse:
    """Base of dataclasses that are read without keys that aren't known."""

    __pydantic_config__: ClassVar[dict[str, Any]] = {"extra": "forbid"}


class RequestBody(NothingElse):
    """Base of every JSON body the server accepts. Unknown keys are refused: else a misspelt one
    would be ignored silently."""
