"""Logging in from a terminal, and a browser by a link."""

from dataclasses import field

from kernelbot.accounts.model import NewAccount
from kernelbot.domain.values import described
from kernelbot.protocol.late import dataclass


@dataclass(frozen=True)
class DeviceLoginView:
    """A login that has begun: show `user_code` and `verification_url`, poll with `device_code`."""

    device_code: str = field(metadata=described("The terminal's secret."))
    user_code: str = field(metadata=described("What the person types at `verification_url`."))
    verification_url: str
    expires_in_s: int
    interval_s: int = field(metadata=described("Seconds to wait between polls."))


@dataclass(frozen=True)
class LoginLink:
    """A page that logs one browser in as the asker, once."""

    url: str
    expires_in_s: int


@dataclass(frozen=True)
class DevicePollView:
    """Null while nobody has; then, once, who it was and their new token."""

    login: NewAccount | None
