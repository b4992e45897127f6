"""What a service returns is the domain's or its own: no row of the store leaks through one."""

import dataclasses
import inspect
import typing
from collections.abc import Iterator
from typing import Any

import pytest

from kernelbot.ranking.service import RankingVersion
from kernelbot.runs.lifecycle import RunLifecycle
from kernelbot.services import Services
from kernelbot.submissions.views import SubmissionSnapshot

SERVICES = (*typing.get_type_hints(Services).values(), RunLifecycle)


def _parts(kind: Any, seen: set[Any]) -> Iterator[type]:
    """The type, what it is a list or dictionary of, and what its fields hold."""
    for argument in typing.get_args(kind):
        yield from _parts(argument, seen)
    if not inspect.isclass(kind) or kind in seen:
        return
    seen.add(kind)
    yield kind
    if dataclasses.is_dataclass(kind):
        for field in typing.get_type_hints(kind).values():
            yield from _parts(field, seen)


def _of_store(kind: Any) -> list[str]:
    return [
        part.__qualname__
        for part in _parts(kind, set())
        if part.__module__.startswith("kernelbot.store.") or part.__module__.endswith(".store")
    ]


@pytest.mark.parametrize("service", SERVICES, ids=lambda service: service.__name__)
def test_no_method_returns_a_row_of_the_store(service: type) -> None:
    methods = inspect.getmembers(service, inspect.isfunction)
    leaking = {
        name: found
        for name, method in methods
        if not name.startswith("_")
        and (found := _of_store(typing.get_type_hints(method).get("return")))
    }
    assert {} == leaking


@pytest.mark.parametrize("held", [SubmissionSnapshot, RankingVersion])
def test_no_snapshot_holds_one(held: type) -> None:
    assert [] == _of_store(held)
