"""An autotuner's configurations are compiled by several processes at once.

Each is a fork of the author's process that compiles its share into Triton's own cache and ends;
then the process itself calls them one after another, as always, and finds them there. What a fork
fails to compile fails again in the process itself, which tells the author.
"""

import contextlib
import functools
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

MOST_PROCESSES = 8
"""Of one autotuner, however many processors there are: each needs memory for a compiler."""


def install() -> None:
    """Have all autotuners of this process compile so until it ends. Needs Triton."""
    from triton.runtime import autotuner

    prune = autotuner.Autotuner.prune_configs

    @functools.wraps(prune)
    def prune_and_compile(tuner: Any, kwargs: dict[str, Any]) -> list[Any]:
        configs = list(prune(tuner, kwargs))
        compile_apart([functools.partial(_call, tuner, one, kwargs) for one in configs])
        return configs

    autotuner.Autotuner.prune_configs = prune_and_compile


def compile_apart(calls: Sequence[Callable[[], object]]) -> None:
    """Make all calls in forks of this process, at most one for each processor that it may use, and
    wait for them. With one call or one processor nothing is done. How calls end is told to nobody.
    """
    count = min(len(calls), len(os.sched_getaffinity(0)), MOST_PROCESSES)
    if count < 2:
        return
    pids: list[int] = []
    with contextlib.suppress(OSError):  # no room for a process more
        for share in range(count):
            pid = os.fork()
            if pid == 0:
                _make(calls[share::count])
            pids.append(pid)
    for pid in pids:
        with contextlib.suppress(ChildProcessError):  # the author's code has waited for it
            os.waitpid(pid, 0)


def _make(calls: Sequence[Callable[[], object]]) -> None:
    """In a fork, which ends here."""
    try:
        _be_silent()
        _use_one_thread()
        for call in calls:
            with contextlib.suppress(Exception):
                call()
    finally:
        os._exit(0)


def _be_silent() -> None:
    """What is printed while a configuration is compiled is printed by the process itself again."""
    null = Path(os.devnull).open("w")  # noqa: SIM115 (until the process ends)
    for stream in (1, 2):
        os.dup2(null.fileno(), stream)
    sys.stdout = sys.stderr = null


def _use_one_thread() -> None:
    """A fork has none of the threads that torch may have started, and would wait for them."""
    import torch

    torch.set_num_threads(1)


def _call(tuner: Any, config: Any, kwargs: dict[str, Any]) -> None:
    """As the autotuner itself does to time a configuration: with what the author does before."""
    tuner._bench(*tuner.nargs.values(), config=config, **kwargs)
