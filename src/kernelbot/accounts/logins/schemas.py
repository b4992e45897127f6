"""Logging in from a terminal."""

from pydantic import Field

from kernelbot.accounts.model import NewAccount
from kernelbot.schemas.common import Answer, RequestBody, Text


class DeviceLoginView(Answer):
    """A login that has begun: show `user_code` and `verification_url`, poll with `device_code`."""

    device_code: str = Field(description="The terminal's secret.")
    user_code: str = Field(description="What the person types at `verification_url`.")
    verification_url: str
    expires_in_s: int
    interval_s: int = Field(description="Seconds to wait between polls.")


class LoginLink(Answer):
    """A page that logs one browser in as the asker, once."""

    url: str
    expires_in_s: int


class DevicePoll(RequestBody):
    """Asks whether somebody has approved."""

    device_code: Text = Field(min_length=1, max_length=200)


class DevicePollView(Answer):
    """Null while nobody has; then, once, who it was and their new token."""

    login: NewAccount | None
