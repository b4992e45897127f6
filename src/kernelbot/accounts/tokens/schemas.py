"""A person's own tokens."""

from dataclasses import field

from kernelbot.domain.values import described
from kernelbot.protocol.late import dataclass
from kernelbot.schemas.common import Moment, Name, RequestBody


@dataclass(frozen=True)
class NewTokenRequest(RequestBody):
    """A token to make."""

    name: Name = field(metadata=described("What it is for, to know it by later."))
    expires_at: Moment | None = None
