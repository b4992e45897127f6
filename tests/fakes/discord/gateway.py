"""The gateway: hello, identify, ready, heartbeats, resume; compressed as Discord does it."""

import json
import secrets
import zlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from aiohttp import WSCloseCode, WSMsgType, web

from tests.fakes.discord.model import Wire

_DISPATCH, _HEARTBEAT, _IDENTIFY, _RESUME, _CHUNK = 0, 1, 2, 6, 8
_RECONNECT, _INVALID, _HELLO, _ACK = 7, 9, 10, 11
_BAD_TOKEN, _NOT_ALLOWED_INTENTS = 4004, 4014
_PRIVILEGED = {"presences": 1 << 8, "members": 1 << 1, "message content": 1 << 15}


class _Socket:
    """One connection; all of it is one zlib stream."""

    def __init__(self, socket: web.WebSocketResponse) -> None:
        self.socket = socket
        self.silent = False
        """As if the link had gone: it stays open, and nothing comes by it any more."""
        self._stream = zlib.compressobj()

    async def send(self, message: Wire) -> None:
        text = json.dumps(message).encode()
        data = self._stream.compress(text) + self._stream.flush(zlib.Z_SYNC_FLUSH)
        if not self.socket.closed and not self.silent:
            await self.socket.send_bytes(data)


@dataclass
class Session:
    """What a client may resume: the events since, numbered."""

    id: str
    intents: int
    events: list[Wire] = field(default_factory=list)
    socket: _Socket | None = None

    async def dispatch(self, event: str, data: Wire) -> None:
        """Number it, keep it, and send it if there is a connection."""
        message = {"op": _DISPATCH, "t": event, "s": len(self.events) + 1, "d": data}
        self.events.append(message)
        if self.socket is not None:
            await self.socket.send(message)


Ready = Callable[[], tuple[Wire, list[tuple[str, Wire]]]]


class Gateway:
    """`ready` makes what a new session is told first: READY's data and the events after it;
    `changed` is called after each message of a client.

    `counts`: how often clients identified, resumed and sent a heartbeat. `allowed`: the privileged
    intents that the application's page has switched on.
    """

    def __init__(self, token: str, ready: Ready, changed: Callable[[], Awaitable[None]]) -> None:
        self._token = token
        self.ready = ready
        self._changed = changed
        self.session: Session | None = None
        self.counts = {"identify": 0, "resume": 0, "heartbeat": 0, "refused": 0}
        self.refuses = 0
        """How many of the next connections are refused."""
        self.allowed = {"members", "message content"}

    async def handle(self, request: web.Request) -> web.WebSocketResponse:
        """One connection, until its end."""
        assert request.query["compress"] == "zlib-stream", "the only one that is spoken here"
        if self.refuses > 0:
            self.refuses -= 1
            self.counts["refused"] += 1
            await self._changed()
            raise web.HTTPServiceUnavailable
        response = web.WebSocketResponse(max_msg_size=4096)
        await response.prepare(request)
        socket = _Socket(response)
        await socket.send({"op": _HELLO, "d": {"heartbeat_interval": 41_250}})
        async for message in response:
            if message.type is not WSMsgType.TEXT:
                break
            await self._receive(socket, json.loads(message.data))
            await self._changed()
        if self.session is not None and self.session.socket is socket:
            self.session.socket = None
        return response

    async def dispatch(self, event: str, data: Wire) -> None:
        """An event for the bot; it gets it after a resume if it isn't connected."""
        if self.session is not None:
            await self.session.dispatch(event, data)

    async def drop(self) -> None:
        """The connection breaks, without a farewell."""
        assert self.session is not None
        if self.session.socket is not None:
            socket, self.session.socket = self.session.socket, None
            await socket.socket.close(code=WSCloseCode.INTERNAL_ERROR)

    def hush(self) -> None:
        """The connection's link goes, and neither end is told."""
        assert self.session is not None
        assert self.session.socket is not None
        socket, self.session.socket = self.session.socket, None
        socket.silent = True

    async def ask_to_reconnect(self) -> None:
        """What Discord does before it restarts a server."""
        assert self.session is not None
        assert self.session.socket is not None
        await self.session.socket.send({"op": _RECONNECT, "d": None})

    async def _receive(self, socket: _Socket, message: Wire) -> None:
        if socket.silent:
            return
        match message["op"]:
            case 1:
                self.counts["heartbeat"] += 1
                await socket.send({"op": _ACK})
            case 2:
                await self._identify(socket, message["d"])
            case 6:
                await self._resume(socket, message["d"])

    async def _identify(self, socket: _Socket, asked: Wire) -> None:
        self.counts["identify"] += 1
        if asked["token"] != self._token:
            await socket.socket.close(code=_BAD_TOKEN)
            return
        if any(
            asked["intents"] & bit for name, bit in _PRIVILEGED.items() if name not in self.allowed
        ):
            await socket.socket.close(code=_NOT_ALLOWED_INTENTS)
            return
        self.session = session = Session(secrets.token_hex(8), asked["intents"], socket=socket)
        ready, events = self.ready()
        await session.dispatch("READY", {**ready, "session_id": session.id})
        for event, data in events:
            await session.dispatch(event, data)

    async def _resume(self, socket: _Socket, asked: Wire) -> None:
        self.counts["resume"] += 1
        session = self.session
        if session is None or asked["session_id"] != session.id:
            await socket.send({"op": _INVALID, "d": False})
            return
        session.socket = socket
        for message in session.events[asked["seq"] :]:
            await socket.send(message)
        await session.dispatch("RESUMED", {})
