"""What is sent to make a link to a result."""

from pydantic import Field

from kernelbot.schemas.common import RequestBody


class NewResultLink(RequestBody):
    """What the link shows."""

    shows_code: bool = Field(
        default=False,
        description="Also the code, once the board's deadline has passed, if it has one.",
    )
