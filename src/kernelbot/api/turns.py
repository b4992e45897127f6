"""How many requests begin at once, so that `/health` is answered while many others come."""

import asyncio
from collections import deque

from starlette.types import ASGIApp, Message, Receive, Scope, Send

UNBOUND = frozenset({"/health", "/metrics"})
"""What is asked to see whether the process is well doesn't wait behind what keeps it busy."""


class Turns:
    """Lets `per_turn` requests begin, or go on with a body that has come, each time that the event
    loop has gone round; the others stand in line.

    Else all that came together would begin in one round of the loop, in which nobody else is
    answered. What has begun waits for connections of the database, of which there are few, so its
    rounds are short by themselves. Nobody holds anything while they wait for something: a slow
    upload, a slow reader, an endless stream or somebody else's server keep no one from their turn.
    """

    def __init__(self, app: ASGIApp, per_turn: int) -> None:
        self._app = app
        self._per_turn = per_turn
        self._left = per_turn
        """Of this turn. Where somebody stands in line it is 0."""
        self._line: deque[asyncio.Future[None]] = deque()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand on in turn."""
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
            if not place.done():  # else whoever stood there has gone
                place.set_result(None)
                self._left -= 1
        if self._left < self._per_turn:
            asyncio.get_running_loop().call_soon(self._next_turn)
