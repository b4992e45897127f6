"""Where webhooks may be. An address is chosen by a person and called by us, from inside our
network: so it must not be one that only we can reach."""

import asyncio
import ipaddress
import socket
from concurrent.futures import Executor
from functools import partial
from urllib.parse import urlsplit

from kernelbot.domain.errors import UserError
from kernelbot.webhooks.model import WebhookRules

_LONGEST = 2000
_RESOLVED_WITHIN_S = 5.0
_PORTS = (443, 80)
_INSIDE = tuple(
    map(ipaddress.ip_network, ("64:ff9b:1::/48", "fec0::/10", "168.63.129.16/32", "192.0.0.0/24"))
)
"""Besides what Python knows: local NAT64, site-local addresses, and those under which providers'
machines find services for themselves alone."""
_GLOBAL_UNICAST = ipaddress.ip_network("2000::/3")
"""Nothing else of IPv6 is on the internet. What isn't in it may still hold an address of IPv4, in
ways that went out of use (`::127.0.0.1`, `::ffff:0:127.0.0.1`), or lead through one's network."""


def checked_url(url: str, rules: WebhookRules) -> str:
    """The address, as it will be called. Raises `UserError` for one that can't be, as far as that
    can be told from its text; where its name leads is looked up for each delivery."""
    url = url.strip()
    if len(url) > _LONGEST or not url.isascii() or not url.isprintable() or " " in url:
        raise UserError(f"A webhook's address has up to {_LONGEST} ASCII characters.")
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        raise UserError("The webhook's address has no host or an invalid port.") from None
    if parts.scheme not in (("https", "http") if rules.private_addresses else ("https",)):
        raise UserError("A webhook's address begins with https://.")
    if not host:
        raise UserError("The webhook's address has no host or an invalid port.")
    if parts.username is not None:  # empty before a password alone
        raise UserError(
            "A webhook's address holds no user name or password.",
            hint="The receiver knows our messages by their signature.",
        )
    if port not in (None, *_PORTS, *rules.ports) and not rules.private_addresses:
        raise UserError(
            f"Webhooks don't reach port {port}.",
            hint="An operator may allow it: ports in [webhooks].",
        )
    if not rules.private_addresses and _is_private_literal(host):
        raise _private()
    return url


async def public_address(host: str, rules: WebhookRules, lookups: Executor) -> str:
    """An IP address of the host that may be called. Raises `UserError` if any of its addresses may
    not be, and `OSError` if it has none.

    `lookups`: threads that nobody else needs. Who chooses a name may also choose that nobody
    answers for it: then its thread waits on after we have given up, for half a minute.
    """
    look_up = partial(socket.getaddrinfo, host, None, type=socket.SOCK_STREAM)
    async with asyncio.timeout(_RESOLVED_WITHIN_S):
        found = await asyncio.get_running_loop().run_in_executor(lookups, look_up)
    addresses = [str(entry[4][0]) for entry in found]
    if not rules.private_addresses and not all(map(_is_public, addresses)):
        raise _private()
    return addresses[0]


def _is_private_literal(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return host == "localhost" or host.endswith((".localhost", ".local", ".internal"))
    return not _is_public(host)


def _is_public(address: str) -> bool:
    found = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(found, ipaddress.IPv6Address):
        inner = found.ipv4_mapped or found.sixtofour or (found.teredo or (None, None))[1]
        if inner is not None:
            return _is_public(str(inner))
        # NAT64: the last four bytes are an address of IPv4.
        if found in ipaddress.ip_network("64:ff9b::/96"):
            return _is_public(str(ipaddress.IPv4Address(found.packed[-4:])))
        if found not in _GLOBAL_UNICAST:
            return False
    return (
        found.is_global
        and not found.is_multicast
        and not any(found in network for network in _INSIDE)
    )


def _private() -> UserError:
    return UserError(
        "This address is of a private network, which webhooks don't reach.",
        hint="An operator may allow it: private_addresses in [webhooks].",
    )
