"""Rejudging a board."""

from dataclasses import field
from typing import Annotated

from kernelbot.domain.bounds import Within
from kernelbot.domain.values import described
from kernelbot.protocol.late import dataclass
from kernelbot.schemas.common import Name, RequestBody


@dataclass(frozen=True)
class NewRejudge(RequestBody):
    """What to measure again."""

    device: Name | None = field(default=None, metadata=described("Default: the board's first."))
    top: Annotated[int, Within(ge=1, le=100_000)] | None = field(
        default=None, metadata=described("How many of the best. Default: all.")
    )
