"""Workers of xdist as forks of one process that has loaded all test modules: to load them takes a
processor as long as to run a thousand tests, and on its own each worker would do that again."""

import gc
import os
import shlex
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

import execnet
import pytest

from tests.support import forks

_BECOMES_A_FORK = Path(__file__).with_name("become_a_fork.py")


def python_that_has_them(arguments: Sequence[str], folder: Path) -> str:
    """What execnet is to start as Python: it has loaded the test modules of these places, and
    pytest's plugins. A module that can't be loaded is left to who needs it."""
    path = os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH")]))
    address = forks.started(__name__, arguments, {**os.environ, "PYTHONPATH": path}, folder)
    return shlex.join([sys.executable, "-I", "-S", str(_BECOMES_A_FORK), address[1:]])


def start_as_forks(specs: Sequence[execnet.XSpec], config: pytest.Config) -> None:
    """Have workers on this machine be forks."""
    places = [str(place) for place in config.args]
    python = python_that_has_them(places, config.rootpath)
    for spec in specs:
        if spec.popen and not spec.python:
            spec.python = python


class _WithoutItems:
    """Modules are loaded, and nothing is searched in them."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_pycollect_makeitem(self) -> list[pytest.Item]:
        return []


def load(*places: str) -> None:
    """Import the test modules there, as pytest does."""
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, sys.stdout.fileno())
    os.close(silent)
    # Functions may have `sys.stderr` as a default: it must be the one that the forks have, too.
    options = ["--collect-only", "--capture=no", "-p", "no:cacheprovider"]
    pytest.main([*options, *places], plugins=[_WithoutItems()])
    assert [threading.main_thread()] == threading.enumerate(), "a fork has no thread but this one"


def main() -> None:
    """Do as `python -c` with execnet's first line."""
    gc.disable()  # as `conftest.py` says
    exec(eval(sys.stdin.readline()), {"__name__": "__main__"})
