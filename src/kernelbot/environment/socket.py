"""One WebSocket: a session, from its first message to the last."""

import asyncio
import json
import logging
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from starlette.websockets import WebSocket, WebSocketDisconnect

from kernelbot.domain.errors import KernelbotError
from kernelbot.environment.frames import (
    BadFrame,
    ClientFrame,
    CloseFrame,
    ErrorCode,
    ResetFrame,
    StepFrame,
    error_frame,
    observation_frame,
    read_frame,
    refusal_frame,
    state_frame,
)
from kernelbot.environment.sessions import ClientSession, ClientSessions, SessionsTaken

_TRY_AGAIN_LATER = 1013
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class _Received:
    """A message; or, without text, the end of the connection."""

    text: str | None


async def serve_socket(socket: WebSocket, sessions: ClientSessions) -> None:
    """Answer until the client closes, or sends nothing for too long. A connection that breaks
    cancels what is being judged for it."""
    await socket.accept()
    try:
        session = sessions.open()
    except SessionsTaken as error:
        with suppress(WebSocketDisconnect):
            await _send(socket, refusal_frame(error))
            await socket.close(_TRY_AGAIN_LATER)
        return
    try:
        await _EpisodeConversation(socket, session, sessions.idle_s).hold()
    except WebSocketDisconnect:  # while an answer was sent
        pass
    finally:
        await sessions.close(session)


class _EpisodeConversation:
    def __init__(self, socket: WebSocket, session: ClientSession, idle_s: float) -> None:
        self._socket = socket
        self._session = session
        self._idle_s = idle_s

    async def hold(self) -> None:
        receiving = asyncio.create_task(self._receive())
        try:
            while True:
                received = await self._next(receiving)
                if received is None:
                    return
                receiving = asyncio.create_task(self._receive())
                answer = await self._answer_unless_gone(received, receiving)
                if answer is None:
                    break
                await _send(self._socket, answer)
        finally:
            receiving.cancel()
            await asyncio.wait([receiving])
        with suppress(WebSocketDisconnect, RuntimeError):  # the client's end of it may be closed
            await self._socket.close()

    async def _next(self, receiving: "asyncio.Task[_Received]") -> str | None:
        """The next message; None: there is none any more."""
        done, _ = await asyncio.wait([receiving], timeout=self._idle_s)
        if done:
            return receiving.result().text
        log.info("A session was idle, and is ended.")
        text = f"This session was idle for {self._idle_s:g} s, and is ended. Connect again."
        owed = self._session.state().unconfirmed
        await _send(self._socket, error_frame(ErrorCode.SESSION_ERROR, text, unconfirmed=owed))
        await self._socket.close()
        return None

    async def _receive(self) -> _Received:
        message = await self._socket.receive()
        if message["type"] == "websocket.disconnect":
            return _Received(None)
        return _Received(message.get("text") or "")

    async def _answer_unless_gone(
        self, text: str, receiving: "asyncio.Task[_Received]"
    ) -> dict[str, Any] | None:
        """The answer; None: the client has closed, or is gone."""
        answering = asyncio.create_task(self._answer(text))
        try:
            await asyncio.wait([answering, receiving], return_when=asyncio.FIRST_COMPLETED)
            is_gone = receiving.done() and receiving.result().text is None
            return None if is_gone and not answering.done() else await answering
        finally:
            if not answering.done():
                answering.cancel()
                await asyncio.wait([answering])

    async def _answer(self, text: str) -> dict[str, Any] | None:
        try:
            frame = read_frame(json.loads(text))
            return None if isinstance(frame, CloseFrame) else await self._act(frame)
        except (ValueError, RecursionError):
            return error_frame(
                ErrorCode.INVALID_JSON, "The message isn't JSON in a text frame, so it is lost."
            )
        except BadFrame as error:
            return error_frame(error.code, str(error))
        except KernelbotError as error:
            return refusal_frame(error)

    async def _act(self, frame: ClientFrame) -> dict[str, Any]:
        if isinstance(frame, ResetFrame):
            return observation_frame(await self._session.reset(frame.data))
        if isinstance(frame, StepFrame):
            return observation_frame(await self._session.step(frame.data))
        return state_frame(self._session.state())


async def _send(socket: WebSocket, value: dict[str, Any]) -> None:
    await socket.send_text(json.dumps(value))
