"""Two releases beside each other, as processes on one Postgres, while people submit.

The newer one is a copy of the sources with a changed function, a migration that adds a column which
that function writes, and one that demands the column of everybody.
"""

import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import psycopg
import pytest
from scripts.local_server import LocalServer

from kernelbot.client import KernelbotClient
from kernelbot.domain.errors import KernelbotError
from kernelbot.protocol import Mode
from tests.server.test_serve import CONFIG
from tests.support.problems import sort_problem
from tests.support.workers import ROOT

_ADDS = "ALTER TABLE events ADD made_by text;"
_DEMANDS = """
UPDATE events SET made_by = 'old' WHERE made_by IS NULL;
ALTER TABLE events ALTER made_by SET DEFAULT 'new', ALTER made_by SET NOT NULL;
"""
_WRITES = (
    ("INSERT INTO events (submission_id, ", "INSERT INTO events (made_by, submission_id, "),
    ("SELECT _submission, coalesce(max(id), 0)", "SELECT 'new', _submission, coalesce(max(id), 0)"),
    ("SELECT _submission, last.id + e.place", "SELECT 'new', _submission, last.id + e.place"),
)
_ENOUGH = 3
"""Submissions that have to be judged in each state of the deployment."""


@pytest.fixture
def config(tmp_path: Path) -> Path:
    file = tmp_path / "kernelbot.toml"
    file.write_text(CONFIG)
    return file


@pytest.fixture
def newer(tmp_path: Path) -> Path:
    """The sources of the release after this one."""
    sources = tmp_path / "newer"
    shutil.copytree(ROOT / "src", sources, ignore=shutil.ignore_patterns("__pycache__"))
    store = sources / "kernelbot" / "store"
    (store / "migrations" / "9998.who_made_it.sql").write_text(_ADDS)
    (store / "migrations" / "9999.all_say_who.after.sql").write_text(_DEMANDS)
    functions = store / "schema" / "submissions" / "functions.sql"
    text = functions.read_text()
    for before, after in _WRITES:
        assert before in text
        text = text.replace(before, after)
    functions.write_text(text)
    return sources


class Releases:
    """Starts processes of either release on one database."""

    def __init__(self, folder: Path, url: str, config: Path) -> None:
        self._folder, self._url, self._config = folder, url, config
        self._servers: list[LocalServer] = []

    def start(self, sources: Path) -> LocalServer:
        """Started, with its worker."""
        folder = self._folder / f"server-{len(self._servers) + 1}"
        server = LocalServer(folder, config=self._config, variables=self._variables(sources))
        self._servers.append(server)
        return server.__enter__()

    def stop(self) -> None:
        """Stop all that were started."""
        for server in self._servers:
            server.stop()

    def run(self, sources: Path, *words: str) -> "subprocess.CompletedProcess[str]":
        """A command, to its end."""
        return subprocess.run(
            [sys.executable, "-m", "kernelbot", *words],
            env=os.environ | self._variables(sources) | {"KERNELBOT_CONFIG": str(self._config)},
            cwd=self._folder,
            capture_output=True,
            text=True,
            timeout=120,
        )

    def _variables(self, sources: Path) -> dict[str, str]:
        path = os.pathsep.join([str(sources), str(ROOT)])
        return {"PYTHONPATH": path, "DATABASE_URL": self._url}


class Load:
    """People who submit and look at the ranking, one after the other, at one server."""

    def __init__(self) -> None:
        self.submitted: list[int] = []
        self.errors: list[str] = []

    @contextmanager
    def on(self, server: LocalServer) -> Iterator[None]:
        """While the block runs; it ends no sooner than enough were judged."""
        stop, before = threading.Event(), len(self.submitted)
        people = threading.Thread(target=self._submit_until, args=(server, stop))
        people.start()
        try:
            yield
            _until(lambda: len(self.submitted) > before + _ENOUGH or bool(self.errors))
        finally:
            stop.set()
            people.join()

    def _submit_until(self, server: LocalServer, stop: threading.Event) -> None:
        with (
            KernelbotClient.to(server.own_endpoint()) as client,
            httpx.Client(base_url=server.url, timeout=60) as browser,
        ):
            try:
                while not stop.is_set():
                    self._once(client, browser)
            except (KernelbotError, httpx.HTTPError) as error:
                self.errors.append(f"{type(error).__name__}: {error}")

    def _once(self, client: KernelbotClient, browser: httpx.Client) -> None:
        score = 1 - len(self.submitted) / 1000
        code = f"# fake: accepted {score}\n# {time.monotonic_ns()}\n".encode()
        found = client.submit("fast.py", code, board="sort", mode=Mode.LEADERBOARD)
        state = "queued"
        while state not in ("finished", "held"):
            state = client.submission(found.id).state
            for path in ("/ready", "/", "/api/v1/boards/sort/standings"):
                answer = browser.get(path)
                if answer.status_code >= 500:
                    self.errors.append(f"{path}: {answer.status_code} {answer.text[:300]}")
            time.sleep(0.05)
        self.submitted.append(found.id)


def _until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < deadline, "it took too long"
        time.sleep(0.05)


@pytest.fixture
def releases(tmp_path: Path, empty_database_url: str, config: Path) -> Iterator[Releases]:
    started = Releases(tmp_path, empty_database_url, config)
    yield started
    started.stop()


@pytest.mark.long
@pytest.mark.timeout(600)
def test_a_release_is_deployed_taken_back_and_finished_under_load(
    tmp_path: Path, empty_database_url: str, releases: Releases, newer: Path
) -> None:
    older, load = ROOT / "src", Load()
    releases.run(older, "db", "migrate").check_returncode()
    first = releases.start(older)
    with KernelbotClient.to(first.own_endpoint()) as client:
        client.create_board(sort_problem(), name="sort")
    with load.on(first):
        releases.run(newer, "db", "migrate").check_returncode()
        second = releases.start(newer)
        with load.on(second):
            early = releases.run(newer, "db", "migrate", "--finish")
    with load.on(second):
        first.stop()
        back = releases.start(older)
    with load.on(back):
        second.stop()
        again = releases.start(newer)
    with load.on(again):
        back.stop()
        releases.run(newer, "db", "migrate", "--finish").check_returncode()
        late = releases.run(older, "serve", "--port", "0", "--data", str(tmp_path / "late"))
    assert [] == load.errors
    assert (2, True) == (early.returncode, "Another release still works" in early.stderr)
    assert (3, True) == (late.returncode, "is of a newer release than this one" in late.stderr)
    with psycopg.connect(empty_database_url) as connection:
        verdicts = connection.execute(
            "SELECT s.id FROM submissions s WHERE s.id = ANY(%s) AND NOT EXISTS ("
            " SELECT 1 FROM runs r WHERE r.submission_id = s.id"
            " AND r.verdict IS DISTINCT FROM 'accepted') ORDER BY s.id",
            (load.submitted,),
        ).fetchall()
        makers = connection.execute("SELECT DISTINCT made_by FROM events ORDER BY 1").fetchall()
    assert sorted(load.submitted) == [row[0] for row in verdicts]
    assert [("new",), ("old",)] == makers
