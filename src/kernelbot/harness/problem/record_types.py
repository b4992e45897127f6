"""Types that look like a problem's records, for a judge that never loads the problem's modules.

A record travels with the names of its module and type, and judge and runner look the type up. The
judge gets an empty module with types of the same names and fields, and none of their code.
"""

import dataclasses
import sys
from operator import itemgetter
from types import ModuleType
from typing import Any

from kernelbot.harness.problem.loader import ProblemBroken

_MAX_RECORDS = 1000
_MAX_FIELDS = 1000


def imitate(records: Any, modules: frozenset[str]) -> None:
    """Have the records that a problem's own process has told of. Raises `ProblemBroken` for what
    can't be one: a stranger wrote it."""
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
    """One of ours, which nothing that is needed may be replaced by."""


def _module(name: str) -> Any:
    """None if a module of our own has that name: no record of the problem's is in there."""
    found = sys.modules.setdefault(name, _Likeness(name))
    return found if isinstance(found, _Likeness) else None
