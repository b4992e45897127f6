"""A scheduler's node whose host stays for the next job: the job goes to the host that is there, or
to one that is started for it and those after it."""

import contextlib
import hashlib
import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from kernelbot.harness.host.cancellation import AttemptLost, Cancellation, Cancelled
from kernelbot.harness.host.own_command import harness_command, harness_environment
from kernelbot.harness.host.warm.client import WarmJudge, WarmStart
from kernelbot.harness.host.warm.connection import Connection, JudgeHangs, NoWarmJudge, Stopped
from kernelbot.harness.host.warm.folder import NotOurs, PrivateFolder
from kernelbot.harness.host.warm.names import judge_name
from kernelbot.protocol import JobSpec, ProgressEvent, RunResult

if TYPE_CHECKING:
    from kernelbot.harness.host.node import NodeOptions, WarmHost

_NAME_LENGTH = 24


class NoHost(Exception):
    """No host takes the job, of which nothing was judged. The text says why."""


def judge_warm(
    job: JobSpec,
    emit: Callable[[ProgressEvent], None],
    stopped: Cancellation,
    warm: "WarmHost",
    options: "NodeOptions",
) -> RunResult:
    """Have the job judged by the host that stays. Raises `NoHost`, `AttemptLost` if the host failed
    in the middle, and `Cancelled`."""
    with contextlib.ExitStack() as stack:
        connection = stack.enter_context(_connected(warm.folder, _words(warm, options)))
        try:
            with stopped.waking(connection.stop):
                return connection.judge(job, emit, _say)
        except Stopped as error:
            raise Cancelled from error
        except NoWarmJudge as error:
            _end_if_it_hangs(error)
            if stopped.is_set():
                raise Cancelled from error
            raise AttemptLost(str(error)) from error


@contextlib.contextmanager
def _connected(folder: Path, words: tuple[str, ...]) -> Iterator[Connection]:
    try:
        opened = PrivateFolder.open(folder)
    except NotOurs as error:
        raise NoHost(str(error)) from error
    with contextlib.closing(opened), contextlib.ExitStack() as stack:
        try:
            judge = WarmJudge(opened, lambda: _start(words), _name(words))
            connection = stack.enter_context(judge.connected(_say))
        except NoWarmJudge as error:
            _end_if_it_hangs(error)
            raise NoHost(str(error)) from error
        yield connection


def _words(warm: "WarmHost", options: "NodeOptions") -> tuple[str, ...]:
    """The arguments of the harness's command `warm`: for others another host is started."""
    given = {
        "--idle-s": warm.idle_s,
        "--limit-s": warm.limit_s,
        "--gpus": ",".join(options.gpus) if options.gpus else None,
        "--locks": options.locks,
        "--lock-wait-s": options.lock_wait_s,
        "--reserved-cores": options.reserved_cores,
        "--build-cache": options.build_cache,
    }
    pairs = [(name, str(value)) for name, value in given.items() if value is not None]
    return tuple(word for pair in pairs for word in pair)


def _start(words: tuple[str, ...]) -> WarmStart:
    return WarmStart(tuple(harness_command()), harness_environment(), words)


def _name(words: tuple[str, ...]) -> str:
    parts = (judge_name(), *words)
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:_NAME_LENGTH]


def _end_if_it_hangs(error: NoWarmJudge) -> None:
    """Nobody else on a node would, and it may hold the GPU."""
    if isinstance(error, JudgeHangs):
        _say(f"the host (process {error.pid}) doesn't answer, and is ended")
        with contextlib.suppress(ProcessLookupError):
            os.kill(error.pid, signal.SIGKILL)


def _say(what: str) -> None:
    print(what, file=sys.stderr, flush=True)
