"""Hostile JSON: one value with all that is wrong in it as findings, checked by a model."""

import json
import math
from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from kernelbot.catalog.fields import DefinitionFindings

M = TypeVar("M", bound=BaseModel)
_MAX_NUMBER_CHARACTERS = 100
_REASONS: Mapping[type[Exception], str] = {
    RecursionError: "nested too deeply",
    UnicodeEncodeError: "text that isn't Unicode",
}


def read_json(
    text: str, model: type[M], line: int | None, findings: DefinitionFindings
) -> M | None:
    """None after findings: text that isn't JSON, NaN and infinities, a key written twice, and each
    place that the model refuses. `line`: of the text in its file; None if it is the whole file."""
    try:
        value = json.loads(
            text,
            parse_constant=_refuse,
            parse_float=_finite,
            parse_int=_short,
            object_pairs_hook=_unique,
        )
        json.dumps(value, ensure_ascii=False).encode()  # an escape can name half a character
    except json.JSONDecodeError as error:
        findings.error("", line or error.lineno, f"not valid JSON: {error.msg}")
        return None
    except (ValueError, RecursionError) as error:
        what = _REASONS.get(type(error), str(error))
        findings.error("", line, f"not valid JSON: {what}")
        return None
    try:
        return model.model_validate(value)
    except ValidationError as error:
        for trouble in error.errors(include_url=False, include_input=False):
            key = ".".join(str(part)[:100] for part in trouble["loc"])
            findings.error(key, line, trouble["msg"])
        return None


def _refuse(constant: str) -> float:
    raise ValueError(f"{constant} isn't a number")


def _finite(digits: str) -> float:
    value = float(_bounded(digits))
    if not math.isfinite(value):
        raise ValueError(f"{digits} is too large")
    return value


def _short(digits: str) -> int:
    return int(_bounded(digits))


def _bounded(digits: str) -> str:
    if len(digits) > _MAX_NUMBER_CHARACTERS:
        raise ValueError(f"a number of {len(digits)} characters")
    return digits


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {twice[:100]!r} is written twice")
    return found
