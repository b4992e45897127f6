"""What is sent to make a link to a result."""

from dataclasses import field

from kernelbot.domain.values import described
from kernelbot.protocol.late import dataclass
from kernelbot.schemas.common import RequestBody


@dataclass(frozen=True)
class NewResultLink(RequestBody):
    """What the link shows."""

    shows_code: bool = field(
        default=False,
        metadata=described("Also the code, once the board's deadline has passed, if it has one."),
    )
