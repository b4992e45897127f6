"""Types like a problem's records, for a judge that never loads the problem's modules.

A record is sent with the names of its module and type, which judge and runner look up. The judge
gets an empty module with types of the same names and fields, without their code.
"""

import dataclasses
import sys
from operator import itemgetter
from types import ModuleType
from typing import Any

from kernelbot.harness.inside.cage.loader import ProblemBroken

_MAX_RECORDS = 1000
_MAX_FIELDS = 1000


def imitate(records: Any, modules: frozenset[str]) -> None:
    """Define the records that a problem's own process has described. Raises `ProblemBroken` for a
    description that can't be right: the process isn't trusted."""
    try:
        if len(records) > _MAX_RECORDS:
            raise ValueError("too many")
        for record in sorted(records, key=lambda record: record["name"].count(".")):
            _imitate(record, modules)
    except (TypeError, KeyError, ValueError, AttributeError) as error:
        raise ProblemBroken(f"The problem's records can't be used: {error}") from error


def _imitate(record: dict[str, Any], modules: frozenset[str]) -> None:
    module, fields = record["module"], record["fields"]
    *outer, name = record["name"].split(".")
    names = [*outer, name, *fields]
    if module not in modules or len(fields) > _MAX_FIELDS or not all(map(str.isidentifier, names)):
        raise ValueError("a name that no record has")
    holder = _module(module)
    if holder is None:
        return
    if record["tuple"]:
        items = {field: property(itemgetter(place)) for place, field in enumerate(fields)}
        kind: Any = type(name, (tuple,), {**items, "_fields": tuple(fields)})
    else:
        kind = dataclasses.make_dataclass(name, fields, init=False, repr=False, eq=False)
    kind.__module__, kind.__qualname__ = module, record["name"]
    for part in outer:
        holder = vars(holder).get(part) or _attach(holder, part, type(part, (), {}))
    _attach(holder, name, kind)


def _attach(holder: Any, name: str, kind: Any) -> Any:
    setattr(holder, name, kind)
    return kind


class _Likeness(ModuleType):
    """A module made here; only such modules may be replaced."""


def _module(name: str) -> Any:
    """The module for a problem's records; None if a real module has that name."""
    found = sys.modules.setdefault(name, _Likeness(name))
    return found if isinstance(found, _Likeness) else None
