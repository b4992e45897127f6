"""Which of Python's functions called which, in a format that viewers of traces read."""

import gc
import gzip
import json
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from kernelbot.harness.inside.profiling import python_trace as module
from kernelbot.harness.inside.profiling.python_trace import python_trace


def inner(number: int) -> int:
    return abs(number)


def outer(number: int) -> int:
    return inner(number) + inner(number)


def failing(number: int) -> int:
    try:
        return inner(number) // 0
    except ZeroDivisionError:
        return int("0")


def yielding(number: int) -> list[int]:
    def numbers() -> Iterator[int]:
        yield inner(number)
        yield 2

    return list(numbers())


def events_of(
    function: Callable[..., Any], *arguments: Any, times: int = 1
) -> list[dict[str, Any]]:
    """Without garbage collections, of which other tests' libraries have functions told."""
    gc.disable()
    try:
        trace = python_trace(function, arguments, times)
    finally:
        gc.enable()
    found = json.loads(gzip.decompress(trace))["traceEvents"]
    return sorted(found, key=lambda event: (event["ts"], -event["dur"]))


def names_of(events: list[dict[str, Any]]) -> list[str]:
    return [event["name"].split(" ")[0] for event in events]


def test_calls_are_inside_their_callers() -> None:
    found = events_of(outer, -3)
    assert ["outer", "inner", "builtins.abs", "inner", "builtins.abs"] == names_of(found)
    begins = [event["ts"] for event in found]
    ends = [event["ts"] + event["dur"] for event in found]
    assert begins[0] < begins[1] < begins[2] < ends[2] < ends[1] < begins[3] < ends[3] < ends[0]


def test_a_function_of_python_has_its_file_and_line() -> None:
    line = inner.__code__.co_firstlineno
    assert f"inner (test_python_trace.py:{line})" == events_of(inner, 1)[0]["name"]


def test_each_time_is_in_it() -> None:
    assert ["inner", "builtins.abs"] * 3 == names_of(events_of(inner, 1, times=3))


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (failing, ["failing", "inner", "builtins.abs"]),
        (yielding, ["yielding", "yielding.<locals>.numbers", "inner", "builtins.abs"]),
    ],
)
def test_exceptions_and_generators_leave_nothing_open(
    function: Callable[..., Any], expected: list[str]
) -> None:
    found = events_of(function, 1)
    assert expected == names_of(found)[: len(expected)]
    assert found[0]["dur"] == max(event["dur"] for event in found)


def test_what_fails_is_not_profiled_on() -> None:
    with pytest.raises(ZeroDivisionError):
        python_trace(lambda: 1 // 0, (), 1)
    assert sys.getprofile() is None


def test_of_very_many_calls_the_first_are_in_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_CALLS", 10)
    found = events_of(lambda: [abs(number) for number in range(1000)])
    assert 10 <= len(found) <= 13
    assert "builtins.abs" == names_of(found)[-1]
    assert found[0]["dur"] == max(event["dur"] for event in found)
