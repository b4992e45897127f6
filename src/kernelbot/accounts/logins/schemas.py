"""Logging in from a terminal."""

from pydantic import Field

from kernelbot.schemas.common import RequestBody, Text


class DevicePoll(RequestBody):
    """Asks whether somebody has approved."""

    device_code: Text = Field(min_length=1, max_length=200)
