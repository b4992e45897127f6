"""Answers that are sent again after one look, before anything else of a request is read."""

from collections.abc import Awaitable, Callable, Coroutine, Hashable
from typing import Any, TypeVar

from fastapi import Request, Response
from fastapi.routing import APIRoute

from kernelbot.api.dependencies import count_connection, shown
from kernelbot.domain.versioned_cache import VersionedCache

Known = Callable[[Request, str], Awaitable[Response | None]]
"""The answer to a request with this token if it was sent before and is still true; None: it isn't
known. It finds out by one statement, in which the token is valid: whoever's token has ended is
answered by the route."""
ASKED_ONCE = None
"""Instead of what a look finds: the answer was asked for, and isn't kept yet."""
_KNOWN = "known"
Key = TypeVar("Key", bound=Hashable)
Endpoint = TypeVar("Endpoint", bound=Callable[..., Any])


def sent_again(
    request: Request, kept: VersionedCache[Key, bytes], key: Key, look: object, owner_id: int
) -> Response | None:
    """What is kept under the key, if it is of this `look`: then it is the owner's connection. What
    is of another look is forgotten, so that what changes often isn't looked at in vain. Raises
    `TooManyRequests`."""
    answer = kept.get(key, look)
    if answer is not None:
        count_connection(request, owner_id)
        return Response(answer, media_type="application/json")
    if kept.get(key, ASKED_ONCE) is None:
        kept.drop(key)
    return None


def known_by(known: Known) -> Callable[[Endpoint], Endpoint]:
    """The endpoint of a `KnownFirst`, of which `known` knows answers."""

    def marked(endpoint: Endpoint) -> Endpoint:
        setattr(endpoint, _KNOWN, known)
        return endpoint

    return marked


class KnownFirst(APIRoute):
    """A route that asks first whether the answer is known, if its endpoint is `known_by` anything.
    What is known was answered to the same text, so nothing of it is validated again."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The route's function, after that."""
        handle = super().get_route_handler()
        known: Known | None = getattr(self.endpoint, _KNOWN, None)
        if known is None:
            return handle

        async def known_first(request: Request) -> Response:
            credential = await shown(request)
            if credential is not None and not credential.of_settings:
                answer = await known(request, credential.text)
                if answer is not None:
                    return answer
            return await handle(request)

        return known_first
