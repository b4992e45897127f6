"""Logging in through a provider, as frozen values."""

from dataclasses import field
from datetime import datetime
from enum import StrEnum

from kernelbot.protocol.late import dataclass


class Registration(StrEnum):
    """Who may make an account by logging in for the first time."""

    OPEN = "open"
    INVITE = "invite"
    CLOSED = "closed"


@dataclass(frozen=True)
class Identity:
    """Someone at a provider. `subject` is unique within the provider alone."""

    provider: str
    subject: str
    created_at: datetime


@dataclass(frozen=True)
class DeviceLogin:
    """A login that a terminal began: it keeps `device_code`, a person types `user_code`."""

    device_code: str = field(repr=False)
    user_code: str
    expires_in_s: int
    interval_s: int
    """Time to leave between polls."""
