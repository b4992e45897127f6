"""Programs alone may use this server, and its own pages: browsers say from which page they ask."""

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from kernelbot.api import errors
from kernelbot.domain.errors import NotAllowed

_CHANGES_NOTHING = ("GET", "HEAD", "OPTIONS")
_ELSEWHERE = ("cross-site", "same-site")
_POLICY_VIOLATION = 1008


class FromElsewhereRefused:
    """Refuses what a browser sends for another site's page, with status 403: there is no login, so
    any page that somebody opens could have sources judged on their machine. Programs say nothing of
    a page. What changes nothing is answered: the browser shows the answer to no other site."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request or the handshake on, or refuse it."""
        is_socket = scope["type"] == "websocket"
        acts = is_socket or (scope["type"] == "http" and scope["method"] not in _CHANGES_NOTHING)
        if not acts or not _is_from_elsewhere(Headers(scope=scope)):
            await self._app(scope, receive, send)
        elif is_socket:
            await receive()
            await send({"type": "websocket.close", "code": _POLICY_VIOLATION})
        else:
            refusal = NotAllowed(
                "This was sent by a page of another site.",
                hint="Send it from a program, which names no page.",
            )
            answer = await errors.response_to(Request(scope), refusal)
            await answer(scope, receive, send)


def _is_from_elsewhere(headers: Headers) -> bool:
    """The scheme doesn't count: behind a proxy it may be another one."""
    if any(site in _ELSEWHERE for site in headers.getlist("sec-fetch-site")):
        return True
    host = headers.get("host", "").casefold()
    origins = headers.getlist("origin")
    return any(not host or one.partition("://")[2].casefold() != host for one in origins)
