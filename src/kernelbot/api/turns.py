"""How many requests begin at once, so that `/health` is answered while many others come."""

import asyncio
from collections import deque

from starlette.types import ASGIApp, Message, Receive, Scope, Send

UNBOUND = frozenset({"/health", "/metrics"})
"""Requests that check whether the process works don't wait behind the others."""


class RequestTurns:
    """Lets `per_turn` requests begin, or continue with a body that has arrived, in each round of
    the event loop; the others wait in line.

    Otherwise all requests that arrive together would begin in one round of the loop, in which
    nothing else is answered. A request that has begun waits for one of few database connections,
    so its later rounds are short. A request holds nothing while it waits: a slow upload, a slow
    reader, an endless stream or another server delays no other request.
    """

    def __init__(self, app: ASGIApp, per_turn: int) -> None:
        self._app = app
        self._per_turn = per_turn
        self._left = per_turn
        """How many more may begin in this round; 0 if requests wait in line."""
        self._line: deque[asyncio.Future[None]] = deque()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on in its turn."""
        if scope["type"] != "http" or scope["path"] in UNBOUND:
            await self._app(scope, receive, send)
            return

        async def receive_in_turn() -> Message:
            message = await receive()
            await self._turn()
            return message

        await self._turn()
        await self._app(scope, receive_in_turn, send)

    async def _turn(self) -> None:
        if self._left == 0:
            place = asyncio.get_running_loop().create_future()
            self._line.append(place)
            await place
            return
        if self._left == self._per_turn:
            asyncio.get_running_loop().call_soon(self._next_turn)
        self._left -= 1

    def _next_turn(self) -> None:
        self._left = self._per_turn
        while self._line and self._left:
            place = self._line.popleft()
            if not place.done():  # else that client has disconnected
                place.set_result(None)
                self._left -= 1
        if self._left < self._per_turn:
            asyncio.get_running_loop().call_soon(self._next_turn)
