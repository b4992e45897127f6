"""Programs alone may use this server, and its own pages: browsers say from which page they ask, and
by which name."""

import ipaddress
from dataclasses import dataclass
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from kernelbot.api import errors
from kernelbot.domain.errors import NotAllowed

_CHANGES_NOTHING = ("GET", "HEAD", "OPTIONS")
_ELSEWHERE = ("cross-site", "same-site")
_LOCAL = "localhost"
_POLICY_VIOLATION = 1008


@dataclass(frozen=True)
class Hosts:
    """The names that a server may be asked by. A page of another site can have its own name lead to
    this machine, and then is of the same origin; no address is such a name, so these all may."""

    allowed: frozenset[str]
    is_loopback: bool
    """Whether the server listens on this machine alone: then every request is held to the names;
    else those that a browser says it sends for a page."""

    @classmethod
    def for_server(cls, listens_on: str, allowed: tuple[str, ...]) -> "Hosts":
        """`allowed`: names beside `localhost`."""
        name = listens_on.casefold()
        is_loopback = name == _LOCAL or (_is_address(name) and _address(name).is_loopback)
        return cls(frozenset({_LOCAL, *(one.casefold() for one in allowed)}), is_loopback)

    def may_ask(self, headers: Headers) -> bool:
        """Whether all that the request says of its host is one of them."""
        if not self.is_loopback and "origin" not in headers:
            return True
        found = headers.getlist("host")
        return bool(found) and all(self._is_ours(host) for host in found)

    def _is_ours(self, host: str) -> bool:
        try:
            name = (urlsplit(f"//{host}").hostname or "").rstrip(".")
        except ValueError:
            return False
        return name in self.allowed or _is_address(name)


class FromElsewhereRefused:
    """Refuses what a browser sends for another site's page, or by a name that isn't this server's,
    with status 403: there is no login, so any page that somebody opens could have sources judged on
    their machine. Programs say nothing of a page. What changes nothing is answered to pages of
    other sites: the browser doesn't show them the answer."""

    def __init__(self, app: ASGIApp, hosts: Hosts) -> None:
        self._app = app
        self._hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request or the handshake on, or refuse it."""
        refusal = self._refusal(scope)
        if refusal is None:
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": _POLICY_VIOLATION})
        else:
            answer = await errors.response_to(Request(scope), refusal)
            await answer(scope, receive, send)

    def _refusal(self, scope: Scope) -> NotAllowed | None:
        if scope["type"] not in ("http", "websocket"):
            return None
        headers = Headers(scope=scope)
        if not self._hosts.may_ask(headers):
            return NotAllowed(
                "This server isn't known by the name that it was asked by.",
                hint="Ask it by its address, or start it with --allow-host and the name.",
            )
        acts = scope["type"] == "websocket" or scope["method"] not in _CHANGES_NOTHING
        if acts and _is_from_elsewhere(headers):
            return NotAllowed(
                "This was sent by a page of another site.",
                hint="Send it from a program, which names no page.",
            )
        return None


def _is_address(name: str) -> bool:
    try:
        _address(name)
    except ValueError:
        return False
    return True


def _address(name: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    return ipaddress.ip_address(name)


def _is_from_elsewhere(headers: Headers) -> bool:
    """The scheme doesn't count: behind a proxy it may be another one."""
    if any(site in _ELSEWHERE for site in headers.getlist("sec-fetch-site")):
        return True
    host = headers.get("host", "").casefold()
    origins = headers.getlist("origin")
    return any(not host or one.partition("://")[2].casefold() != host for one in origins)
