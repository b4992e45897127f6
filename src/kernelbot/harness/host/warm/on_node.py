"""A scheduler's node whose host stays for the next job: the job goes to the host that is there, or
to one that is started for it and those after it."""

import contextlib
import hashlib
import os
import signal
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from kernelbot.harness.host.cancellation import AttemptLost, Cancellation, Cancelled
from kernelbot.harness.host.own_command import harness_command, harness_environment
from kernelbot.harness.host.warm.client import WarmJudge, WarmStart
from kernelbot.harness.host.warm.connection import (
    Connection,
    JudgeHangs,
    NoWarmJudge,
    Stopped,
)
from kernelbot.harness.host.warm.folder import NotOurs, PrivateFolder
from kernelbot.harness.host.warm.names import judge_name
from kernelbot.protocol import JobSpec, ProgressEvent, RunResult

_NAME_LENGTH = 24


class NoHost(Exception):
    """No host takes the job, of which nothing was judged. The text says why."""


@dataclass(frozen=True)
class HostOptions:
    """How a host that stays judges. Another one is started for others."""

    idle_s: float
    limit_s: float
    gpus: tuple[str, ...] | None
    locks: Path | None
    lock_wait_s: float
    reserved_cores: int
    build_cache: Path | None

    def words(self) -> tuple[str, ...]:
        """The arguments of the harness's command `warm`."""
        given = {
            "--idle-s": self.idle_s,
            "--limit-s": self.limit_s,
            "--gpus": ",".join(self.gpus) if self.gpus else None,
            "--locks": self.locks,
            "--lock-wait-s": self.lock_wait_s,
            "--reserved-cores": self.reserved_cores,
            "--build-cache": self.build_cache,
        }
        pairs = [(name, str(value)) for name, value in given.items() if value is not None]
        return tuple(word for pair in pairs for word in pair)


def judge_warm(
    job: JobSpec,
    emit: Callable[[ProgressEvent], None],
    stopped: Cancellation,
    folder: Path,
    options: HostOptions,
) -> RunResult:
    """Have the job judged by the host whose socket is in `folder`, which is made if its parent is
    there. Raises `NoHost`, `AttemptLost` if the host failed in the middle, and `Cancelled`."""
    with contextlib.ExitStack() as stack:
        connection = stack.enter_context(_connected(folder, options))
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
def _connected(folder: Path, options: HostOptions) -> Iterator[Connection]:
    try:
        opened = PrivateFolder.open(folder)
    except (NotOurs, OSError) as error:
        raise NoHost(str(error)) from error
    with contextlib.closing(opened), contextlib.ExitStack() as stack:
        try:
            judge = WarmJudge(opened, lambda: _start(options), _name(options))
            connection = stack.enter_context(judge.connected(_say))
        except NoWarmJudge as error:
            _end_if_it_hangs(error)
            raise NoHost(str(error)) from error
        yield connection


def _start(options: HostOptions) -> WarmStart:
    return WarmStart(tuple(harness_command()), harness_environment(), options.words())


def _name(options: HostOptions) -> str:
    parts = (judge_name(), *options.words())
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:_NAME_LENGTH]


def _end_if_it_hangs(error: NoWarmJudge) -> None:
    """Nobody else on a node would, and it may hold the GPU."""
    if isinstance(error, JudgeHangs):
        _say(f"the host (process {error.pid}) doesn't answer, and is ended")
        with contextlib.suppress(ProcessLookupError):
            os.kill(error.pid, signal.SIGKILL)


def _say(what: str) -> None:
    print(what, file=sys.stderr, flush=True)
