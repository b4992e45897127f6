"""What zygotes import and do before they fork: asked of processes of their own."""

import json
import subprocess
import sys

import pytest
import torch

from kernelbot.harness.inside.preload import driver_left_alone
from tests.support.terminal import SOURCE

_PRELOAD = """
import json, os, sys
from kernelbot.harness.inside.preload import preload
preload({flavour!r}, {cuda_on_cpu})
print(json.dumps({{
    "threads": len(os.listdir("/proc/self/task")),
    "has the checks": "kernelbot_check" in sys.modules,
}}), flush=True)
"""
_LOGS = """
import logging, threading, time
if (pid := os.fork()) == 0:  # an author's process, which forks while a thread of it logs
    lock, held = logging.getLogger("torch").handlers[0].lock, threading.Event()
    hold = lambda: (lock.acquire(), held.set(), time.sleep(60))
    threading.Thread(target=hold, daemon=True).start()
    held.wait()
    if (child := os.fork()) == 0:
        print(lock.acquire(timeout=20), flush=True)
        os._exit(0)
    os.waitpid(child, 0)
    os._exit(0)
os.waitpid(pid, 0)
logging.getLogger("torch").handlers[0].acquire()  # as it never is in a process that forks
if (pid := os.fork()) == 0:
    print(len(logging._at_fork_reinit_lock_weakset), flush=True)
    logging.getLogger("torch").handlers[0].acquire()
    logging.getLogger("torch").warning("said")
    os._exit(0)
print(os.waitpid(pid, 0)[1])
"""


def _preloaded(flavour: str, *, more: str = "") -> "subprocess.CompletedProcess[str]":
    """A process of that flavour, which says what it has loaded, and does more."""
    begin = _PRELOAD.format(flavour=flavour, cuda_on_cpu=flavour == "torch")
    return subprocess.run(
        [sys.executable, "-c", begin + more],
        env={"PYTHONPATH": str(SOURCE), "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "4"},
        capture_output=True,
        text=True,
        check=True,
    )


@pytest.fixture(scope="module")
def with_torch() -> "subprocess.CompletedProcess[str]":
    """What forks runners, and has forked one that logs. To load torch takes 4 s of a processor."""
    return _preloaded("torch", more=_LOGS)


def test_while_frameworks_are_imported_no_driver_is_asked() -> None:
    ask = torch.cuda.is_available
    with driver_left_alone(torch):
        told = torch.cuda.is_available()
    assert (True, ask) == (told, torch.cuda.is_available)


def test_who_forks_runners_has_one_thread_and_what_checkers_import(
    with_torch: "subprocess.CompletedProcess[str]",
) -> None:
    said = json.loads(with_torch.stdout.splitlines()[0])
    assert {"threads": 1, "has the checks": True} == said


def test_a_fork_logs_though_it_makes_no_handlers_lock_anew(
    with_torch: "subprocess.CompletedProcess[str]",
) -> None:
    assert ["True", "0", "0"] == with_torch.stdout.splitlines()[1:]
    assert "said" in with_torch.stderr
