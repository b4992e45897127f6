"""Lists of submissions, and bodies of requests."""

from pydantic import Field

from kernelbot.schemas.common import RequestBody, Text


class Decision(RequestBody):
    """Why a submission is released or refused."""

    reason: Text = Field(
        max_length=2000, pattern=r"\S", description="For the audit log; of a refusal, its author's."
    )
