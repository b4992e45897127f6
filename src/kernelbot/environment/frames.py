"""The WebSocket's messages: one of a client's, then one of ours."""

from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter, ValidationError

from kernelbot.domain.errors import KernelbotError
from kernelbot.environment.messages import Action, Observation, ResetRequest, State
from kernelbot.environment.sessions import SessionsTaken
from kernelbot.schemas.mistakes import what_is_wrong
from kernelbot.schemas.models import Message


class ErrorCode(StrEnum):
    """OpenEnv's words for what went wrong."""

    INVALID_JSON = "INVALID_JSON"
    UNKNOWN_TYPE = "UNKNOWN_TYPE"
    VALIDATION_ERROR = "VALIDATION_ERROR"
    EXECUTION_ERROR = "EXECUTION_ERROR"
    CAPACITY_REACHED = "CAPACITY_REACHED"
    SESSION_ERROR = "SESSION_ERROR"


class ResetFrame(Message):
    """Begin an episode."""

    type: Literal["reset"]
    data: ResetRequest = ResetRequest()


class StepFrame(Message):
    """An attempt."""

    type: Literal["step"]
    data: Action


class StateFrame(Message):
    """How far is the episode?"""

    type: Literal["state"]


class CloseFrame(Message):
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
