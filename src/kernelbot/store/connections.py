"""What every connection that is kept open is made with."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

ALIVE: Mapping[str, Any] = MappingProxyType(
    {
        "keepalives_idle": 10,
        "keepalives_interval": 5,
        "keepalives_count": 3,
        "tcp_user_timeout": 20_000,
    }
)
"""libpq's, in seconds and, the last one, milliseconds: a server that is gone without a word, with
its machine or behind a network that forgot us, is noticed in half a minute instead of 15 minutes,
or two hours if nobody asks it anything. Over a socket of this machine they mean nothing."""
