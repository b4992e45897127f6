"""Watching a file where the system allows no more watches."""

import os
import resource
from pathlib import Path
from threading import Event

import watchfiles  # noqa: F401 (loaded while files can be opened)

from kernelbot.server.dev.files import changes


def test_without_a_watch_the_file_is_looked_at_all_the_same(tmp_path: Path) -> None:
    file, over = tmp_path / "mine.py", Event()
    file.write_text("1")
    usual = resource.getrlimit(resource.RLIMIT_NOFILE)
    next_one = os.open(os.devnull, os.O_RDONLY)
    os.close(next_one)
    found = changes(file, over)
    resource.setrlimit(resource.RLIMIT_NOFILE, (next_one, usual[1]))
    try:
        told = next(found)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, usual)
    over.set()
    assert (False, []) == (told, list(found))
