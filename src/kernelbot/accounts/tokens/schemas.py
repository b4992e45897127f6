"""A person's own tokens."""

from pydantic import AwareDatetime, Field

from kernelbot.schemas.common import Name, RequestBody


class NewTokenRequest(RequestBody):
    """A token to make."""

    name: Name = Field(description="What it is for, to know it by later.")
    expires_at: AwareDatetime | None = None
