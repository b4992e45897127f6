"""What zygotes import and do before they fork: asked of processes of their own."""

import json
import subprocess
import sys

import torch

from kernelbot.harness.inside.preload import driver_left_alone
from tests.support.terminal import SOURCE

_PRELOAD = """
import json, os, sys
from kernelbot.harness.inside.preload import preload
preload({flavour!r}, {cuda_on_cpu}, strangers={strangers})
print(json.dumps({{
    "threads": len(os.listdir("/proc/self/task")),
    "has the checks": "kernelbot_check" in sys.modules,
}}))
"""


def _program(flavour: str, *, strangers: bool) -> str:
    return _PRELOAD.format(flavour=flavour, strangers=strangers, cuda_on_cpu=flavour == "torch")


def _preloaded(flavour: str, *, strangers: bool) -> dict[str, object]:
    done = subprocess.run(
        [sys.executable, "-c", _program(flavour, strangers=strangers)],
        env={"PYTHONPATH": str(SOURCE), "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "4"},
        capture_output=True,
        text=True,
        check=True,
    )
    found: dict[str, object] = json.loads(done.stdout)
    return found


def test_while_frameworks_are_imported_no_driver_is_asked() -> None:
    ask = torch.cuda.is_available
    with driver_left_alone(torch):
        told = torch.cuda.is_available()
    assert (True, ask) == (told, torch.cuda.is_available)


def test_who_forks_runners_has_one_thread_and_what_checkers_import() -> None:
    assert {"threads": 1, "has the checks": True} == _preloaded("torch", strangers=True)


def test_who_forks_judges_has_one_thread_and_nothing_for_checkers() -> None:
    assert {"threads": 1, "has the checks": False} == _preloaded("numpy", strangers=False)


_LOGGED = """
import logging, os
from kernelbot.harness.inside.preload import preload
preload("torch", True, strangers=True)
logging.getLogger("torch").handlers[0].acquire()  # as it never is in a process that forks
if (pid := os.fork()) == 0:
    print(len(logging._at_fork_reinit_lock_weakset), flush=True)
    logging.getLogger("torch").handlers[0].acquire()
    logging.getLogger("torch").warning("said")
    os._exit(0)
print(os.waitpid(pid, 0)[1])
"""


def test_a_fork_logs_though_it_makes_no_handlers_lock_anew() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _LOGGED],
        env={"PYTHONPATH": str(SOURCE)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "0\n0\n" == done.stdout
    assert "said" in done.stderr
