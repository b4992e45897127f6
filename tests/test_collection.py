"""The order of the tests, and which of them each run has."""

import re
from collections.abc import Iterable
from itertools import chain
from pathlib import Path

import pytest

from tests.conftest import COLLECTED, LONGEST, PLACES, TOGETHER, turned
from tests.exploits.entries import Entry
from tests.exploits.test_exploits import test_entry as judges_an_entry

WRITTEN = re.compile(r"^(?:async )?def (test_\w+)\(", re.MULTILINE)
FELLOW = re.compile(r"# ?[Ee]ach run has (test_\w+)(?!\.py)\b")


def test_those_that_take_longest_are_there() -> None:
    """If this fails, a file was renamed: say so in `conftest.py`, or a worker ends long after the
    others."""
    folder = Path(__file__).parent
    names = (*LONGEST, *(name for files in TOGETHER for name in files))
    assert [] == [name for name in names if not list(folder.glob(f"{name}*"))]


def test_they_come_first(request: pytest.FixtureRequest) -> None:
    names = [item.nodeid.removeprefix("tests/") for item in request.session.items]
    are_long = [name.startswith(LONGEST) for name in names]
    assert sorted(are_long, reverse=True) == are_long


def test_workers_collect_all_and_begin_in_different_places() -> None:
    places = [turned(PLACES, worker, 3) for worker in range(3)]
    everything = sorted(map(str, PLACES))
    assert ([everything] * 3, 3) == (
        [sorted(found) for found in places],
        len({found[0] for found in places}),
    )


def test_each_run_judges_exploits_that_end_in_each_way() -> None:
    marks = judges_an_entry.pytestmark  # type: ignore[attr-defined]  # pytest sets it
    (parametrize,) = (mark for mark in marks if mark.name == "parametrize")
    every = [case.values[0] for case in parametrize.args[1]]
    always = [case.values[0] for case in parametrize.args[1] if not is_left_out(case.marks)]
    assert ends_of(every) == ends_of(always)


def test_each_run_has_something_of_every_folder(request: pytest.FixtureRequest) -> None:
    """Whoever runs `make test` alone shall notice what is broken: a folder whose tests are all for
    `make test-all` has one that isn't."""
    found = request.session.stash[COLLECTED]
    folders = {item.path.parent for item in found}
    always = {item.path.parent for item in found if not is_left_out(item.iter_markers())}
    assert set() == folders - always


def test_what_a_module_names_for_each_run_is_there(request: pytest.FixtureRequest) -> None:
    """If this fails, a test was renamed: the mark `each_run` of its module names it as well."""
    always: dict[str, list[str]] = {}
    named: dict[str, set[str]] = {}
    for item in request.session.stash[COLLECTED]:
        mark = item.get_closest_marker("each_run")
        if mark is not None:
            file = item.nodeid.split("::")[0]
            named[file] = set(mark.args)
            if not is_left_out(item.iter_markers()):
                always.setdefault(file, []).extend((item.name, item.name.split("[")[0]))
    assert {} == {
        file: missing for file, names in named.items() if (missing := names - {*always[file]})
    }


def test_a_fellow_that_a_comment_names_is_in_each_run(request: pytest.FixtureRequest) -> None:
    """A test that isn't says in a comment which of its kind is. Of some files alone, only what was
    collected of those that are named is looked at."""
    found = request.session.stash[COLLECTED]
    always = {item.name.split("[")[0] for item in found if not is_left_out(item.iter_markers())}
    left_out = {item.name.split("[")[0] for item in found} - always
    texts = {path: path.read_text() for path in Path(__file__).parent.glob("**/test_*.py")}
    written = {name for text in texts.values() for name in WRITTEN.findall(text)}
    named = {
        (str(path), name)
        for path in {item.path for item in found}
        for name in FELLOW.findall(texts.get(path, ""))
    }
    assert [] == sorted((path, name) for path, name in named if name not in written - left_out)


def test_timed_tests_are_found_by_the_text_of_their_file(request: pytest.FixtureRequest) -> None:
    """Only files with this text are collected for them, see `Makefile`."""
    found = request.session.stash[COLLECTED]
    timed = {item.path for item in found if item.get_closest_marker("timed")}
    assert set() == {path for path in timed if "mark.timed" not in path.read_text()}


def ends_of(entries: Iterable[Entry]) -> set[str]:
    """All in which one of them may end."""
    return set(chain.from_iterable(entry.expect for entry in entries))


def is_left_out(marks: Iterable[pytest.Mark | pytest.MarkDecorator]) -> bool:
    """Whether `make test` has no test with these marks."""
    return not {"exhaustive", "long"}.isdisjoint(mark.name for mark in marks)
