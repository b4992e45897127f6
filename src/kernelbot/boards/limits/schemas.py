"""Rate limits of boards."""

from dataclasses import field
from typing import Annotated

from kernelbot.domain.bounds import Within
from kernelbot.domain.values import described
from kernelbot.protocol.late import dataclass
from kernelbot.schemas.common import RequestBody


@dataclass(frozen=True)
class NewLimit(RequestBody):
    """A limit to set."""

    max_per_hour: Annotated[int, Within(ge=0, le=1_000_000)] = field(
        metadata=described("0: none are accepted.")
    )
