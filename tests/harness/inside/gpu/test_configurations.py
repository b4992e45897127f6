"""Calls that are made in forks of a process, at once."""

import os
import time
from functools import partial
from pathlib import Path

import pytest

from kernelbot.harness.inside.gpu.configurations import compile_apart

pytest.importorskip("torch", reason="torch isn't installed")
pytestmark = [
    pytest.mark.torch,
    pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="there is one processor"),
]


def note(folder: Path, number: int) -> None:
    (folder / str(number)).write_text(str(os.getpid()))


def test_all_are_made_by_several_processes_that_are_gone(tmp_path: Path) -> None:
    compile_apart([partial(note, tmp_path, number) for number in range(9)])
    pids = {int((tmp_path / str(number)).read_text()) for number in range(9)}
    assert len(pids) > 1
    assert os.getpid() not in pids
    assert not [pid for pid in pids if Path(f"/proc/{pid}").exists()]


def test_one_that_fails_leaves_the_others(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    def fail() -> None:
        print("not told twice")
        raise RuntimeError

    compile_apart([fail, fail, *(partial(note, tmp_path, number) for number in range(4))])
    assert {"0", "1", "2", "3"} == {path.name for path in tmp_path.iterdir()}
    assert capfd.readouterr().out == ""


def test_they_are_made_at_once(tmp_path: Path) -> None:
    """Each waits for the other's file."""

    def meet(own: int) -> None:
        note(tmp_path, own)
        deadline = time.monotonic() + 60
        while not (tmp_path / str(1 - own)).exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        if (tmp_path / str(1 - own)).exists():
            (tmp_path / f"met{own}").touch()

    compile_apart([partial(meet, 0), partial(meet, 1)])
    assert (tmp_path / "met0").exists()
    assert (tmp_path / "met1").exists()


def test_one_call_is_left_to_the_process_itself(tmp_path: Path) -> None:
    compile_apart([partial(note, tmp_path, 0)])
    assert not list(tmp_path.iterdir())
