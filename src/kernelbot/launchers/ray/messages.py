"""What the worker and its process with Ray's package say to each other: JSON, a line each."""

import base64
from enum import StrEnum
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from kernelbot.launchers.ray.keeper import AttemptState, TaskJob, TaskStage


class KeeperRequest(StrEnum):
    LAUNCH = "launch"
    POLL = "poll"
    CANCEL = "cancel"
    FORGET = "forget"
    NODES = "nodes"


_MAX_ERROR = 300


class _Message(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class AttemptAnswer(_Message):
    stage: Annotated[TaskStage, Field(strict=False)]
    result: str | None = None
    """In base64, if it is done and isn't too large."""
    size: int = 0
    """Bytes of the result."""
    reason: str = ""
    """Why it failed."""
    ours: bool = True
    """Whether that was our failure, and not the cluster's."""

    @classmethod
    def from_keeper(cls, state: AttemptState) -> "AttemptAnswer":
        result = None if state.result is None else base64.b64encode(state.result).decode()
        return cls(
            stage=TaskStage(state.stage.value),
            result=result,
            size=state.size,
            reason=state.reason,
            ours=state.ours,
        )

    def content(self) -> bytes | None:
        """The result's bytes. None: it isn't done, or is too large."""
        return None if self.result is None else base64.b64decode(self.result)


class KeeperAnswer(_Message):
    """The one line that follows each question. `error` is empty, or says why there is none."""

    error: str = ""
    keeper: str = ""
    told: dict[str, AttemptAnswer] = Field(default_factory=dict)
    kept: int = 0
    """How many attempts the keeper knows."""
    nodes: tuple[dict[str, float], ...] = ()


class KeeperQuestion(_Message):
    """One line of the worker's."""

    ask: Annotated[KeeperRequest, Field(strict=False)]
    attempts: dict[str, int] = Field(default_factory=dict)
    """Those it is about, and how large their results may be."""
    keeper: str = ""
    job: TaskJob | None = None
    """What a launch needs."""


def failure(error: Exception) -> KeeperAnswer:
    """The answer to a question that raised this, of which it has the type and the first line."""
    lines = str(error).splitlines()
    said = f": {lines[0][:_MAX_ERROR]}" if lines else ""
    return KeeperAnswer(error=f"{type(error).__name__}{said}")
