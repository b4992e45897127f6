"""The processes of an idle server are those that `docs/explanation/processes.md` draws."""

import re
import time
from pathlib import Path

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


def test_the_page_draws_what_runs(tmp_path: Path) -> None:
    expected = drawn()
    with LocalServer(tmp_path / "server") as server:
        deadline = time.monotonic() + WAIT_S
        while (found := running(server)) != expected and time.monotonic() < deadline:
            time.sleep(0.1)  # the host is still starting its own
    assert expected == found
