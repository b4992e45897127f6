import asyncio
import os
import signal
import sys
import time
from pathlib import Path

import pytest

from kernelbot.server.supervise import SupervisedProcess, supervised


async def test_a_child_that_cannot_be_started_is_tried_again(tmp_path: Path) -> None:
    program, mark = tmp_path / "program", tmp_path / "mark"
    child = SupervisedProcess("late", (str(program),), dict(os.environ), patience_s=5)
    async with supervised(child):
        await asyncio.sleep(0.1)
        draft = tmp_path / "draft"
        draft.write_text(f"#!/bin/sh\necho > {mark}\nexec sleep 60\n")
        draft.chmod(0o700)
        draft.rename(program)
        async with asyncio.timeout(60):
            await asyncio.to_thread(_await, mark)


async def test_a_child_that_stays_stopped_is_replaced(tmp_path: Path) -> None:
    async with supervised(_child(tmp_path, standstill_s=0.3)):
        first = await asyncio.to_thread(_pid, tmp_path / "pid")
        os.kill(first, signal.SIGSTOP)
        async with asyncio.timeout(60):
            await asyncio.to_thread(_await_another, tmp_path / "pid", first)


@pytest.mark.exhaustive  # each run has test_a_child_that_stays_stopped_is_replaced
async def test_a_child_that_goes_on_in_time_is_kept(tmp_path: Path) -> None:
    async with supervised(_child(tmp_path, standstill_s=2)):
        first = await asyncio.to_thread(_pid, tmp_path / "pid")
        for _ in range(4):  # longer than it may be stopped at once
            os.kill(first, signal.SIGSTOP)
            await asyncio.sleep(0.5)
            os.kill(first, signal.SIGCONT)
            await asyncio.sleep(0.4)
        assert first == await asyncio.to_thread(_pid, tmp_path / "pid")


def _child(folder: Path, standstill_s: float) -> SupervisedProcess:
    """It writes its number into `pid`, and waits."""
    program = (
        f"import os, time; open({str(folder / 'draft')!r}, 'w').write(str(os.getpid()));"
        f"os.rename({str(folder / 'draft')!r}, {str(folder / 'pid')!r}); time.sleep(60)"
    )
    command = (sys.executable, "-c", program)
    return SupervisedProcess(
        "still", command, dict(os.environ), patience_s=5, standstill_s=standstill_s
    )


def _pid(file: Path) -> int:
    _await(file)
    return int(file.read_text())


def _await_another(file: Path, pid: int) -> None:
    while _pid(file) == pid:
        time.sleep(0.05)


def _await(file: Path) -> None:
    while not file.exists():
        time.sleep(0.05)
