"""The processes of an idle server are those that `docs/explanation/processes.md` draws."""

import re
import time
from collections.abc import Callable, Iterator
from typing import TypeVar

import pytest
from scripts.local_server import LocalServer

from tests.support.workers import ROOT

pytestmark = pytest.mark.exhaustive  # test_serve.py has a server at each run

PAGE = ROOT / "docs" / "explanation" / "processes.md"
LINE = re.compile(r"^    (?P<before>[ │├└─]*)(?P<name>[a-z][a-z:]*)")
STEP = len("├── ")
WAIT_S = 60.0
T = TypeVar("T")


def drawn() -> set[tuple[str, str]]:
    """Parent and child, by name, in the page's first drawing."""
    edges = set()
    above: list[str] = []
    for line in PAGE.read_text().split("\n\n")[2].splitlines():
        found = LINE.match(line)
        assert found is not None, line
        depth = len(found["before"]) // STEP
        above[depth:] = [found["name"]]
        if depth:
            edges.add((above[depth - 1], above[depth]))
    return edges


def running(server: LocalServer) -> set[tuple[str, str]]:
    processes = {process.pid: process for process in server.processes()}
    return {
        (processes[child.parent].name, child.name)
        for child in processes.values()
        if child.parent in processes
    }


@pytest.fixture(scope="module")
def idle(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalServer]:
    """A server that has judged nothing. Its host may still be starting its own processes."""
    with LocalServer(tmp_path_factory.mktemp("idle") / "server") as server:
        yield server


def once(expected: T, look: Callable[[], T]) -> T:
    """What there is once it is as expected, or after a minute."""
    deadline = time.monotonic() + WAIT_S
    while (found := look()) != expected and time.monotonic() < deadline:
        time.sleep(0.1)
    return found


def test_the_page_draws_what_runs(idle: LocalServer) -> None:
    expected = drawn()
    assert expected == once(expected, lambda: running(idle))


def runners(server: LocalServer) -> tuple[int, int]:
    """How many there are, and inits of theirs."""
    names = [process.name for process in server.processes()]
    return names.count("kb:runner"), names.count("kb:init")


def test_runners_wait_for_one_job_of_each_slot(idle: LocalServer) -> None:
    assert (2, 2) == once((2, 2), lambda: runners(idle))
