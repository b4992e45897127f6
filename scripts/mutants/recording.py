"""Runs tests once to learn which lines each of them executes."""

import multiprocessing
import os
import signal
import tempfile
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

import pytest

from scripts.mutants import loaded
from scripts.mutants.forked import OPTIONS, use_folder
from scripts.mutants.lines import Kept, Recorder, Test

_FILES = 10
"""So many are run by one process, which has a Postgres of its own."""


def record(tree: Path, files: Sequence[str], kept: Kept, jobs: int) -> dict[str, Test]:
    """What the tests of these files do; those that were changed are run, and kept."""
    missing = kept.missing(files)
    parts = [missing[first : first + _FILES] for first in range(0, len(missing), _FILES)]
    with ProcessPoolExecutor(jobs, mp_context=loaded.context(), max_tasks_per_child=1) as pool:
        futures = {pool.submit(_recorded, tree, kept.modules, part): part for part in parts}
        try:
            for number, future in enumerate(as_completed(futures), start=1):
                kept.add(futures[future], future.result())
                kept.save()
                print(f"Recorded the lines of {number} of {len(parts)} sets of tests.", flush=True)
        except KeyboardInterrupt:
            for process in multiprocessing.active_children():
                process.terminate()
            raise
        finally:
            pool.shutdown(cancel_futures=True)
    return kept.tests(files)


def _recorded(tree: Path, modules: Sequence[str], files: Sequence[str]) -> dict[str, Test]:
    """In a process of its own, and a session: Linux divides processors among sessions."""
    os.setsid()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # pytest stops its Postgres then
    loaded.enter(tree)
    silent = os.open(os.devnull, os.O_RDWR)
    for descriptor in (1, 2):
        os.dup2(silent, descriptor)
    recorder = Recorder(tree, modules)
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        use_folder(Path(folder, "files"))
        pytest.main([*OPTIONS, *files], plugins=[recorder])
    return recorder.tests
