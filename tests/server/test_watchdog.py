import subprocess
import sys
import textwrap

import pytest


def _run(body: str) -> subprocess.CompletedProcess[str]:
    program = f"""
import asyncio, re, time
from kernelbot.server.watchdog import watched

async def main():
{textwrap.indent(textwrap.dedent(body), "    ")}

asyncio.run(main())
"""
    return subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False
    )


@pytest.mark.parametrize(
    "hang",
    ["while True: pass", "time.sleep(3600)", "re.match('(a*)*b', 'a' * 100)"],
    ids=["in Python", "in a call", "in C, without letting others in"],
)
def test_a_process_that_stands_still_ends_and_says_where(hang: str) -> None:
    ended = _run(f"async with watched(0.5):\n    await asyncio.sleep(0)\n    {hang}")
    assert 1 == ended.returncode
    assert "in main" in ended.stderr


@pytest.mark.timed
def test_one_that_moves_lives() -> None:
    assert 0 == _run("async with watched(2):\n    await asyncio.sleep(3)").returncode


@pytest.mark.exhaustive  # each run has test_a_process_that_stands_still_ends_and_says_where
def test_afterwards_nothing_is_watched() -> None:
    body = "async with watched(1):\n    await asyncio.sleep(0)\ntime.sleep(1.5)"
    assert 0 == _run(body).returncode
