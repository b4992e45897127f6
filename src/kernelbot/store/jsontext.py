"""Makes authors' text storable in Postgres, which accepts no NUL and no lone surrogates."""

import json
from collections.abc import Mapping
from typing import Any


def clean(text: str) -> str:
    """The text with NUL shown as its picture and invalid code points replaced."""
    return text.replace("\x00", "\u2400").encode("utf-8", "replace").decode("utf-8")


def dumps(value: Any) -> str:
    """A JSON value as text that a jsonb column accepts."""
    try:
        text = _written(value)
        text.encode()
    except (TypeError, UnicodeEncodeError):  # a mapping that is no dict; a lone surrogate
        return _written(_cleaned(value))
    # As NUL is written; text that says so is cleaned for nothing.
    return _written(_cleaned(value)) if "\\u0000" in text else text


def _written(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _cleaned(value: Any) -> Any:
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, Mapping):
        return {clean(key): _cleaned(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_cleaned(item) for item in value]
    return value
