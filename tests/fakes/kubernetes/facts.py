"""Holds objects against `facts.yml`: what Kubernetes' published description says of them."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

Wire = dict[str, Any]
_SCALARS: dict[str, tuple[type, ...]] = {
    "str": (str,),
    "int": (int,),
    "bool": (bool,),
    "float": (int, float),
}
_OF_MAPS = {"map ": "{}", "list ": "[]"}


@dataclass(frozen=True)
class Type:
    """One type of the description."""

    fields: dict[str, str]
    """Their types by their names."""
    required: frozenset[str]


@dataclass(frozen=True)
class Facts:
    """All of them."""

    types: dict[str, Type]
    enums: dict[str, frozenset[str]]


@cache
def facts() -> Facts:
    """As the file has them."""
    document = yaml.safe_load((Path(__file__).parent / "facts.yml").read_text())
    types = {}
    for name, groups in document["types"].items():
        required = frozenset(groups.pop("required", "").split())
        fields = {field: kind for kind, names in groups.items() for field in names.split()}
        types[name] = Type(fields, required)
    enums = {field: frozenset(words.split()) for field, words in document["enums"].items()}
    return Facts(types, enums)


def mistakes(kind: str, value: object, at: str = "") -> list[str]:
    """What of the value isn't as the description has it, each with its place."""
    at = at or kind
    for prefix, empty in _OF_MAPS.items():
        if kind.startswith(prefix):
            return _of_many(kind.removeprefix(prefix), value, at, empty)
    if kind == "any":
        return []
    if kind in _SCALARS:
        fits = isinstance(value, _SCALARS[kind]) and (kind == "bool" or value is not True)
        return [] if fits else [f"{at} is {value!r} instead of {kind}"]
    if not isinstance(value, dict):
        return [f"{at} is {value!r} instead of {kind}"]
    return _of_object(kind, value, at)


def _of_many(kind: str, value: object, at: str, empty: str) -> list[str]:
    if not isinstance(value, dict if empty == "{}" else list):
        return [f"{at} is {value!r} instead of {empty}"]
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    return [one for key, each in pairs for one in mistakes(kind, each, f"{at}.{key}")]


def _of_object(kind: str, value: Wire, at: str) -> list[str]:
    known = facts().types[kind]
    found = [f"{at} has no {name}" for name in sorted(known.required - value.keys())]
    for name, each in value.items():
        if name not in known.fields:
            found.append(f"{at} knows no {name}")
        elif each is not None:
            found += mistakes(known.fields[name], each, f"{at}.{name}")
        words = facts().enums.get(f"{kind}.{name}")
        if words is not None and each not in words:
            found.append(f"{at}.{name} is {each!r}, which is none of its words")
    return found
