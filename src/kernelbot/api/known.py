"""Answers that are sent again after one look, before anything else of a request is read."""

from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

from fastapi import Request, Response
from fastapi.routing import APIRoute

from kernelbot.api.dependencies import shown

Known = Callable[[Request, str], Awaitable[Response | None]]
"""The answer to a request with this token if it was sent before and is still true; None: it isn't
known. It finds out by one statement, in which the token is valid: whoever's token has ended is
answered by the route."""
_KNOWN = "known"
Endpoint = TypeVar("Endpoint", bound=Callable[..., Any])


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
