"""Runs of pytest that don't have to load the libraries first: most of the time of a short one.

One process loads what the tests need apart from this project, and each run is forked from it.
"""

import contextlib
import functools
import multiprocessing
import os
import signal
import subprocess
import sys
from multiprocessing.context import ForkServerContext
from multiprocessing.process import BaseProcess
from pathlib import Path

MARKS = "not timed and not long"
"""Of the tests that are asked."""
_OURS = ("kernelbot", "kernelbot_check", "tests", "scripts", "benchmarks")
_ALL = "import sys, tests.conftest, tests.support.live; print(*sys.modules)"
_GRACE_S = 20
_TREE = Path(__file__).resolve().parents[2]


@functools.cache
def context() -> ForkServerContext:
    """Forks processes that have loaded what this tree's tests load of others."""
    command = [sys.executable, "-c", _ALL]
    names = subprocess.run(command, cwd=_TREE, check=True, capture_output=True).stdout.decode()
    others = [name for name in names.split() if name.partition(".")[0] not in (*_OURS, "__main__")]
    forking = multiprocessing.get_context("forkserver")
    forking.set_forkserver_preload(["pytest", "hypothesis", *others])
    return forking


def enter(tree: Path) -> None:
    """In such a process: the tree's modules are those that are loaded."""
    os.chdir(tree)
    sys.path[:0] = [str(tree / "src"), str(tree)]


class Run:
    """One run of pytest, with what it started."""

    def __init__(self, process: BaseProcess) -> None:
        self._process = process

    def code(self, limit_s: float) -> int | None:
        """pytest's exit code; None if it had to be ended."""
        self._process.join(limit_s)
        code = self._process.exitcode
        for number in (signal.SIGINT, signal.SIGKILL):  # the first lets it stop its Postgres
            if self._process.exitcode is None and self._process.pid is not None:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(self._process.pid, number)
                self._process.join(_GRACE_S)
        return code


def start(arguments: list[str], copy: Path, environment: dict[str, str], output: Path) -> Run:
    """Begin pytest in the copy, all that it writes in `output`."""
    values = (arguments, str(copy), environment, str(output))
    process = context().Process(target=_tests, args=values)
    process.start()
    return Run(process)


def _tests(arguments: list[str], copy: str, environment: dict[str, str], output: str) -> None:
    """In the forked process: modules of this project come from the copy."""
    os.setsid()
    with Path(output).open("wb") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(copy)
    for name in [name for name in sys.modules if name.partition(".")[0] in _OURS]:
        del sys.modules[name]
    sys.path[:0] = environment["PYTHONPATH"].split(os.pathsep)
    import pytest

    sys.exit(int(pytest.main(arguments)))
