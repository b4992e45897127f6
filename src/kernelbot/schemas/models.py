"""Answers and messages whose classes are pydantic's own: no command of the terminal uses them."""

from pydantic import BaseModel, ConfigDict


class Answer(BaseModel):
    """Base of what the server sends so. Unknown keys are ignored, so that an older client
    understands a newer server."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class Message(BaseModel):
    """Base of what the server receives so. Unknown keys are refused: else a misspelt one would be
    ignored silently."""

    model_config = ConfigDict(frozen=True, extra="forbid")
