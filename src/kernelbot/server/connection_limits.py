"""How many connections there may be, and how long each may keep us waiting."""

import ipaddress
import resource
from dataclasses import dataclass

_KEPT_FILES = 256
"""Open files that aren't HTTP connections: database, logs, uploads, children."""
_MAX_FILES = 65_536
_ADDRESSES_SHARE, _ACCOUNTS_SHARE = 4, 16
"""One address may have a fourth of all connections, since a whole school may have one; and one
account a sixteenth."""
_FEW_PER_ACCOUNT = 16
"""Where open files are few, an account may have so many all the same, up to an eighth: somebody
who follows ten submissions has ten streams."""
_NETWORK_BITS = 64
"""Bits of an IPv6 address that name a network: one customer has all addresses that begin with them,
or more."""


@dataclass(frozen=True)
class ConnectionLimits:
    """Sizes in bytes, times in seconds, of one process."""

    head_bytes: int = 32 << 10
    """Size of a request's line and headers, and of the trailers after its body."""
    head_s: float = 20.0
    """From the first byte that is waited for until the head is whole."""
    silence_s: float = 30.0
    """How long an incomplete body may pause, or the client not read an answer."""
    least_bytes_per_s: float = 1024.0
    """How much of an answer a client has to read at least, over `silence_s`."""
    unread_s: float = 5.0
    """A client that hasn't read what was sent for so long may make way for another one."""
    max_connections: int = 4096
    """Connections at once. Beyond that, the one that has kept us waiting longest is closed, or else
    the one that hasn't read for longest."""
    per_address: int = 1024
    """Connections of one address at once, of those that are counted."""
    per_account: int = 256
    """Connections at once on which one account is answered, or hasn't read the answer."""
    counts_private: bool = False
    """Whether addresses of private networks are counted: usually a proxy has them."""


def raise_open_files() -> None:
    """Raise the soft limit of open files, of this process and those it starts, as far as it may."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _MAX_FILES if hard == resource.RLIM_INFINITY else min(hard, _MAX_FILES)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def connection_limits() -> ConnectionLimits:
    """The defaults, with no more connections than the limit of open files allows."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    files = _MAX_FILES if soft == resource.RLIM_INFINITY else soft
    most = min(ConnectionLimits.max_connections, max(files - _KEPT_FILES, files // 2))
    return ConnectionLimits(
        max_connections=most,
        per_address=max(1, most // _ADDRESSES_SHARE),
        per_account=max(1, most // _ACCOUNTS_SHARE, min(_FEW_PER_ACCOUNT, most // 8)),
    )


def counted_address(client: tuple[str, int] | None, limits: ConnectionLimits) -> str | None:
    """The address by which a client's connections are counted; None: they aren't. With IPv6 a whole
    network is one address, since everybody has one of their own."""
    if client is None:
        return None
    try:
        found = ipaddress.ip_address(client[0].partition("%")[0])
    except ValueError:  # a Unix socket's
        return None
    if isinstance(found, ipaddress.IPv6Address):
        found = found.ipv4_mapped or found
    if not (found.is_global or limits.counts_private):
        return None
    if isinstance(found, ipaddress.IPv4Address):
        return str(found)
    return str(ipaddress.IPv6Network((found, _NETWORK_BITS), strict=False))
