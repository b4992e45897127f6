"""Logging in from a terminal."""

from typing import Annotated

from kernelbot.domain.bounds import Within
from kernelbot.protocol.late import dataclass
from kernelbot.schemas.common import RequestBody


@dataclass(frozen=True)
class DevicePoll(RequestBody):
    """Asks whether somebody has approved."""

    device_code: Annotated[str, Within(min_length=1, max_length=200)]
