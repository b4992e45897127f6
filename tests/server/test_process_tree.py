"""The processes of an idle server are those that `docs/explanation/processes.md` draws."""

import re
import time
from collections.abc import Iterator

import pytest
from scripts.local_server import LocalServer

from tests.support.workers import ROOT

pytestmark = pytest.mark.exhaustive  # test_serve.py has a server at each run

PAGE = ROOT / "docs" / "explanation" / "processes.md"
LINE = re.compile(r"^    (?P<before>[ │├└─]*)(?P<name>[a-z][a-z:]*)")
STEP = len("├── ")
WAIT_S = 60.0


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
    """A server that has all its processes, and has judged nothing."""
    expected = drawn()
    with LocalServer(tmp_path_factory.mktemp("idle") / "server") as server:
        deadline = time.monotonic() + WAIT_S
        while running(server) != expected and time.monotonic() < deadline:
            time.sleep(0.1)  # the host is still starting its own
        yield server


def test_the_page_draws_what_runs(idle: LocalServer) -> None:
    assert drawn() == running(idle)


def test_runners_wait_for_one_job_of_each_slot(idle: LocalServer) -> None:
    names = [process.name for process in idle.processes()]
    assert (2, 2) == (names.count("kb:runner"), names.count("kb:init"))
