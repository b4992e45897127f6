"""Which of many cases of one kind `make test` runs; `make test-all` runs them all."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from pathlib import Path
from typing import TypeVar

import pytest
from hypothesis import settings

T = TypeVar("T")

DEAR = frozenset({"client", "host", "postgres", "shell", "zygote"})
"""Fixtures that take a test a database, a sandbox or a process of its own: a tenth of a second."""
ROWS = 2
"""So many rows of a table of a test with these are for each run."""
TESTS = 6
"""So many tests, or rows, with these of a module that doesn't say by itself which are."""


def leave_out_what_has_a_fellow(items: Iterable[pytest.Item]) -> None:
    """Mark what a module doesn't name that says by `each_run` which of its tests are for each run.
    A name is that of a test, or of one of its rows; no name: all are."""
    for item in items:
        named = item.get_closest_marker("each_run")
        names = {item.name, getattr(item, "originalname", item.name)}
        if named is not None and named.args and names.isdisjoint(named.args):
            item.add_marker(pytest.mark.exhaustive)


def leave_out_further_rows(items: Iterable[pytest.Item]) -> None:
    """Mark what is of a table, takes a tenth of a second and has two before it. A table that says
    by itself which rows are for each run (`cases`, `few`) is left as it is."""
    tables: dict[tuple[object, ...], list[pytest.Item]] = {}
    for item in items:
        if isinstance(item, pytest.Function) and hasattr(item, "callspec"):
            tables.setdefault((item.path, item.cls, item.originalname), []).append(item)
    for rows in tables.values():
        is_dear = not DEAR.isdisjoint(rows[0].fixturenames)  # type: ignore[attr-defined]
        if is_dear and not any(row.get_closest_marker("exhaustive") for row in rows):
            for row in rows[ROWS:]:
                row.add_marker(pytest.mark.exhaustive)


def leave_out_further_tests(items: Iterable[pytest.Item]) -> None:
    """Mark what takes a tenth of a second and has six before it in its module, which begins with
    what matters most. A module that says which tests are for each run (`each_run`) is left as it
    is, and so are tests that run alone."""
    before: Counter[Path] = Counter()
    for item in items:
        marked = map(item.get_closest_marker, ("exhaustive", "each_run", "timed", "long"))
        if not any(marked) and not DEAR.isdisjoint(getattr(item, "fixturenames", ())):
            before[item.path] += 1
            if before[item.path] > TESTS:
                item.add_marker(pytest.mark.exhaustive)


def first_of_each(values: Iterable[T], kind: Callable[[T], Hashable]) -> list[T]:
    """One value of each kind, in the order of the values."""
    firsts: dict[Hashable, T] = {}
    for value in values:
        firsts.setdefault(kind(value), value)
    return list(firsts.values())


def cases(values: Iterable[T], always: Sequence[T]) -> list[object]:
    """Parameters of a test, of which those that aren't among `always` are for `make test-all`."""
    return [
        value if value in always else pytest.param(value, marks=pytest.mark.exhaustive)
        for value in values
    ]


def few(rows: Sequence[tuple[object, ...]], count: int) -> list[object]:
    """Rows of a test's parameters; those after the first `count` are for `make test-all`."""
    return [
        pytest.param(*row, marks=[] if place < count else [pytest.mark.exhaustive])
        for place, row in enumerate(rows)
    ]


def examples(thorough: int) -> int:
    """How many examples hypothesis tries in a test, if it tries this many in `make test-all`."""
    assert settings.default is not None
    share = settings.default.max_examples / settings.get_profile("thorough").max_examples
    return max(1, round(thorough * share))
