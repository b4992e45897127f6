"""Rate limits of boards."""

from dataclasses import field
from typing import Annotated

from kernelbot.boards.limits.model import MAX_PER_HOUR
from kernelbot.domain.bounds import Within
from kernelbot.domain.values import described
from kernelbot.protocol.late import dataclass
from kernelbot.schemas.common import RequestBody


@dataclass(frozen=True)
class NewLimit(RequestBody):
    """A limit to set."""

    max_per_hour: Annotated[int, Within(ge=0, le=MAX_PER_HOUR)] = field(
        metadata=described("0: none are accepted.")
    )
