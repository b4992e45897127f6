"""Tries changes in forks of one process that has loaded all tests: a change takes as long as the
tests that execute its line, up to the first that fails."""

import os
import shutil
import signal
import sys
import tempfile
import time
from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest

from scripts.mutants import loaded
from scripts.mutants.exchange import Loaded, Unfit
from scripts.mutants.operators import Mutant

OPTIONS = ["-q", "-s", "--tb=no", "--assert=plain", "-p", "no:cacheprovider", "-m", loaded.MARKS]
"""Of pytest, where nobody reads what it says."""
UNFIT, ENDED = 100, 101
"""Exit codes, beside pytest's: the change can't be made in a fork; the fork had to be ended."""
_POLL_S = 0.02
_KILLERS = 3


@dataclass(frozen=True)
class Task:
    """One change and the tests that should notice it, in their order; the change may be none."""

    mutant: Mutant | None
    tests: tuple[str, ...]
    limit_s: float


@dataclass(frozen=True)
class Ended:
    """What came of a task."""

    task: Task
    code: int
    """pytest's exit code; 0 if no test failed."""
    test: str = ""
    """The first that failed; empty if none did."""


def use_folder(folder: Path) -> None:
    """Have what tests write be there, and not beside other runs' files."""
    folder.mkdir()
    os.environ["HYPOTHESIS_STORAGE_DIRECTORY"] = str(folder / "hypothesis")
    os.environ["PYTEST_DEBUG_TEMPROOT"] = str(folder)


def run_in_forks(tree: Path, tasks: Sequence[Task], jobs: int) -> Iterator[Ended]:
    """Yield what came of each task, as it ends. Raises `RuntimeError` if the tests can't be run."""
    if not tasks:
        return
    context = loaded.context()
    reading, writing = context.Pipe(duplex=False)
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        process = context.Process(target=_collect, args=(tree, tasks, jobs, writing, Path(folder)))
        process.start()
        writing.close()
        try:
            for _ in tasks:
                number, code, test = reading.recv()
                yield Ended(tasks[number], code, test)
        except EOFError:
            words = Path(folder, "words").read_text(errors="replace")
            raise RuntimeError(f"The tests don't run:\n{words[-2000:]}") from None
        finally:
            process.terminate()
            process.join()


def _collect(
    tree: Path, tasks: Sequence[Task], jobs: int, answers: Connection, folder: Path
) -> None:
    """In a process of its own: have pytest load the tests, and `_Loop` run them."""
    loaded.enter(tree)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    with Path(folder, "words").open("wb") as words:
        os.dup2(words.fileno(), 1)
        os.dup2(words.fileno(), 2)
    files = sorted({test.partition("::")[0] for task in tasks for test in task.tests})
    with ExitStack() as stack:
        forks = _Forks(folder, jobs, stack)
        loop = _Loop(tree, tasks, answers, forks)
        code = int(pytest.main([*OPTIONS, "-o", "timeout=0", *files], plugins=[loop]))
        if loop.is_fork:
            os._exit(code)
        forks.stop()


@dataclass
class _Forks:
    """Forks of this process, each with a number, and how they end."""

    folder: Path
    jobs: int
    stack: ExitStack
    server: Any = None
    """The Postgres that all share; None if no test has one."""
    running: dict[int, tuple[int, float]] = field(default_factory=dict)
    """By process: the fork's number, and until when it may run."""

    def start_postgres(self) -> None:
        """Start one that all forks share."""
        from tests.support.postgres import test_server

        self.server = self.stack.enter_context(test_server())

    def stop(self) -> None:
        """End all."""
        for pid in self.running:
            with suppress(ProcessLookupError):
                os.killpg(pid, signal.SIGKILL)

    def start(self, number: int, limit_s: float) -> bool:
        """True in the fork."""
        pid = os.fork()
        if pid:
            self.running[pid] = (number, time.monotonic() + limit_s)
            return False
        os.setsid()
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        use_folder(self.folder / f"{number}.files")
        silent = os.open(os.devnull, os.O_RDWR)
        for descriptor in range(3):
            os.dup2(silent, descriptor)
        if self.server:
            self.server = self.server.in_fork(_databases(number))
        return True

    def ended(self, fewer_than: int) -> Iterator[tuple[int, int, str]]:
        """Yield number, exit code and failed test of those that end, until so few are running."""
        while len(self.running) >= fewer_than:
            found = [one for pid in [*self.running] if (one := self._ended(pid))]
            yield from found
            if not found:
                time.sleep(_POLL_S)

    def words(self, number: int) -> Path:
        """Where a fork writes which test failed."""
        return self.folder / str(number)

    def _ended(self, pid: int) -> tuple[int, int, str] | None:
        number, deadline = self.running[pid]
        ended, status = os.waitpid(pid, os.WNOHANG)
        if not ended and time.monotonic() < deadline:
            return None
        with suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)
        if not ended:
            os.waitpid(pid, 0)
        del self.running[pid]
        if self.server:
            self.server.drop_all(_databases(number))
        shutil.rmtree(self.folder / f"{number}.files", ignore_errors=True)
        words = self.words(number)
        code = os.waitstatus_to_exitcode(status) if ended else ENDED
        return number, code, words.read_text() if words.exists() else ""


def _databases(number: int) -> str:
    return f"fork_{number}_"


class _Loop:
    """A plugin of pytest's: instead of the tests it runs forks, each with some of them."""

    def __init__(
        self, tree: Path, tasks: Sequence[Task], answers: Connection, forks: _Forks
    ) -> None:
        self.is_fork = False
        self._tree = tree
        self._tasks = tasks
        self._answers = answers
        self._forks = forks
        self._words = Path()
        self._killers: dict[tuple[str, str], deque[str]] = defaultdict(
            lambda: deque(maxlen=_KILLERS)
        )
        """By module and function: tests that noticed other changes of it, the last one first."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[Any], request: Any) -> Any:
        if fixturedef.argname != "postgres" or not self._forks.server:
            return None
        fixturedef.cached_result = (self._forks.server, fixturedef.cache_key(request), None)
        return self._forks.server

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if self.is_fork and report.failed and not self._words.exists():
            self._words.write_text(report.nodeid)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        """Return None in a fork: what pytest does then is to run the session's tests."""
        items = {item.nodeid: item for item in session.items}
        if any("postgres" in getattr(item, "fixturenames", ()) for item in session.items):
            self._forks.start_postgres()
        functions = Loaded(self._tree)
        for number, task in enumerate(self._tasks):
            self._answer(self._forks.jobs)
            tests = [items[name] for name in self._order(task) if name in items]
            if not tests:
                self._answers.send((number, int(pytest.ExitCode.NO_TESTS_COLLECTED), ""))
            elif self._forks.start(number, task.limit_s):
                self.is_fork = True
                self._become(session, functions, number, tests)
                return None
        self._answer(1)
        return True

    def _become(
        self, session: pytest.Session, functions: Loaded, number: int, tests: list[pytest.Item]
    ) -> None:
        self._words = self._forks.words(number)
        mutant = self._tasks[number].mutant
        if mutant:
            session.config.option.maxfail = 1
            try:
                functions.exchange(mutant)
            except Unfit:
                os._exit(UNFIT)
        session.items[:] = tests

    def _order(self, task: Task) -> list[str]:
        """The tests file by file, as a file's may share what is expensive."""
        mutant, tests = task.mutant, dict.fromkeys(task.tests)
        killers = self._killers[mutant.module, mutant.function] if mutant else ()
        order = [*(name for name in killers if name in tests), *tests]
        files = {name.partition("::")[0]: None for name in order}
        rank = {file: number for number, file in enumerate(files)}
        return sorted(dict.fromkeys(order), key=lambda name: rank[name.partition("::")[0]])

    def _answer(self, fewer_than: int) -> None:
        for number, code, test in self._forks.ended(fewer_than):
            self._answers.send((number, code, test))
            mutant = self._tasks[number].mutant
            if mutant and test:
                killers = self._killers[mutant.module, mutant.function]
                if test not in killers:
                    killers.appendleft(test)
