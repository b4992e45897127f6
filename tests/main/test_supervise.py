import asyncio
import os
import time
from pathlib import Path

from kernelbot.main.supervise import Child, supervised


async def test_a_child_that_cannot_be_started_is_tried_again(tmp_path: Path) -> None:
    program, mark = tmp_path / "program", tmp_path / "mark"
    child = Child("late", (str(program),), dict(os.environ), patience_s=5)
    async with supervised(child):
        await asyncio.sleep(0.1)
        draft = tmp_path / "draft"
        draft.write_text(f"#!/bin/sh\necho > {mark}\nexec sleep 60\n")
        draft.chmod(0o700)
        draft.rename(program)
        async with asyncio.timeout(20):
            await asyncio.to_thread(_await, mark)


def _await(file: Path) -> None:
    while not file.exists():
        time.sleep(0.05)
