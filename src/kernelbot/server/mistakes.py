"""What validators of the configuration raise, and how it is told."""

from typing import Any

from pydantic import ValidationError
from pydantic_core import PydanticCustomError

from kernelbot.schemas.mistakes import what_is_wrong


def mistake(sentence: str, *, key: str = "") -> PydanticCustomError:
    """A sentence that tells the mistake; the value isn't shown, since it may be a secret. `key`:
    where within what is validated."""
    return PydanticCustomError("mistake", "{sentence}", {"sentence": sentence, "key": key})


def all_mistakes(error: ValidationError) -> str:
    """Every mistake behind the key that it is of."""
    return "; ".join(f"{_key(each)}: {what_is_wrong(each)}" for each in error.errors())


def _key(found: Any) -> str:
    within = found.get("ctx", {}).get("key")
    return ".".join(str(part) for part in (*found["loc"], *([within] if within else [])))
