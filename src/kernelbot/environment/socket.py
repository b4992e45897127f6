"""One WebSocket: a session, from its first message to the last."""

import asyncio
import json
import logging
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError
from starlette.websockets import WebSocket, WebSocketDisconnect

from kernelbot.domain.errors import KernelbotError
from kernelbot.environment.messages import Action, Observation, ResetRequest, State
from kernelbot.environment.sessions import ClientSession, ClientSessions, SessionsTaken
from kernelbot.schemas.mistakes import what_is_wrong


class ErrorCode(StrEnum):
    """OpenEnv's words for what went wrong."""

    INVALID_JSON = "INVALID_JSON"
    UNKNOWN_TYPE = "UNKNOWN_TYPE"
    VALIDATION_ERROR = "VALIDATION_ERROR"
    EXECUTION_ERROR = "EXECUTION_ERROR"
    CAPACITY_REACHED = "CAPACITY_REACHED"
    SESSION_ERROR = "SESSION_ERROR"


class _Frame(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ResetFrame(_Frame):
    """Begin an episode."""

    type: Literal["reset"]
    data: ResetRequest = ResetRequest()


class StepFrame(_Frame):
    """An attempt."""

    type: Literal["step"]
    data: Action


class StateFrame(_Frame):
    """How far is the episode?"""

    type: Literal["state"]


class CloseFrame(_Frame):
    """The session ends."""

    type: Literal["close"]


ClientFrame = ResetFrame | StepFrame | StateFrame | CloseFrame
_FRAMES: TypeAdapter[ClientFrame] = TypeAdapter(Annotated[ClientFrame, Field(discriminator="type")])
_NO_KIND = frozenset({"union_tag_invalid", "union_tag_not_found", "model_attributes_type"})


class BadFrame(Exception):
    """A message that can't be read. The text says why."""

    def __init__(self, code: ErrorCode, text: str) -> None:
        super().__init__(text)
        self.code = code


def read_frame(value: object) -> ClientFrame:
    """A client's message. Raises `BadFrame`."""
    try:
        return _FRAMES.validate_python(value)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        if first["type"] in _NO_KIND:
            raise BadFrame(
                ErrorCode.UNKNOWN_TYPE,
                "A message is an object whose `type` is reset, step, state or close.",
            ) from None
        place = ".".join(str(part) for part in first["loc"][1:])
        raise BadFrame(ErrorCode.VALIDATION_ERROR, f"{place} {what_is_wrong(first)}.") from None


def observation_frame(observation: Observation) -> dict[str, Any]:
    """The answer to a reset or a step."""
    return {"type": "observation", "data": observation.enveloped()}


def state_frame(state: State) -> dict[str, Any]:
    """The answer to a question for the state."""
    return {"type": "state", "data": state.model_dump(mode="json")}


def error_frame(code: ErrorCode, text: str, **more: object) -> dict[str, Any]:
    """What went wrong, in one sentence with what to do next."""
    return {"type": "error", "data": {"message": text, "code": code.value, **more}}


def refusal_frame(error: KernelbotError) -> dict[str, Any]:
    """An error of ours."""
    text = f"{error} {error.hint}".rstrip()
    if isinstance(error, SessionsTaken):
        return error_frame(
            ErrorCode.CAPACITY_REACHED, text, active_sessions=error.most, max_sessions=error.most
        )
    return error_frame(ErrorCode.EXECUTION_ERROR, text)


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
