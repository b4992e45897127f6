"""Invites to closed boards."""

from typing import Annotated

from kernelbot.domain.bounds import Within
from kernelbot.protocol.late import dataclass
from kernelbot.schemas.common import Name, RequestBody


@dataclass(frozen=True)
class NewInviteRequest(RequestBody):
    """Invites to make, each for all of the boards."""

    boards: Annotated[tuple[Name, ...], Within(min_length=1, max_length=100)]
    count: Annotated[int, Within(ge=1, le=10_000)] = 1


@dataclass(frozen=True)
class JoinRequest(RequestBody):
    """An invite to claim."""

    code: Annotated[str, Within(min_length=1, max_length=100)]
