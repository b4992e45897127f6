"""What organisers send of submissions."""

from dataclasses import field
from typing import Annotated

from kernelbot.domain.bounds import Within
from kernelbot.domain.values import described
from kernelbot.protocol.late import dataclass
from kernelbot.schemas.common import RequestBody


@dataclass(frozen=True)
class Decision(RequestBody):
    """Why a submission is released or refused."""

    reason: Annotated[str, Within(max_length=2000, pattern=r"\S")] = field(
        metadata=described("For the audit log; of a refusal, its author's.")
    )
