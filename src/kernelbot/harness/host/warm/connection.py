"""One connection to a warm judge, which is one job: JSON lines there and back."""

import contextlib
import json
import socket
import time
from collections.abc import Callable
from typing import Any, TypeVar

from kernelbot.harness.host.warm.folder import peer_pid
from kernelbot.protocol import JobSpec, ProgressEvent, RunResult, WireError, from_wire, to_wire
from kernelbot.protocol.os_errors import in_words

T = TypeVar("T", RunResult, ProgressEvent)
WAITS = "Waiting: another file of yours is being judged on this machine."
_ANSWER_S = 10.0
_SLACK_S = 120.0
"""What a job may take beyond the sum of its time-outs before the judge counts as hung."""
_STOP_S = 10.0


class NoWarmJudge(Exception):
    """There is none, or it failed in the middle: the job has no result. The text says why."""


class JudgeHangs(NoWarmJudge):
    """The judge is there, and doesn't answer. `pid`: its process."""

    def __init__(self, message: str, pid: int) -> None:
        super().__init__(message)
        self.pid = pid


class Stopped(Exception):
    """The job was stopped by `stop`; it has no result."""


class Connection:
    """The client's end. Closing it stops a job that isn't over."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self._reader = sock.makefile("rb")

    def close(self) -> None:
        """Again: nothing."""
        self._reader.close()
        self._sock.close()

    @property
    def pid(self) -> int:
        """The judge's process. Raises `NotOurs` if it is another account's."""
        return peer_pid(self._sock)

    def is_welcome(self) -> bool:
        """False if the judge is ending. Raises `JudgeHangs`, and `NotOurs` if it is another
        account's."""
        pid = self.pid
        try:
            return self._receive(_ANSWER_S) is not None
        except TimeoutError:
            raise JudgeHangs(
                f"The warm judge (process {pid}) doesn't answer; end it with: kill -9 {pid}.", pid
            ) from None

    def judge(
        self,
        job: JobSpec,
        on_event: Callable[[ProgressEvent], None],
        on_step: Callable[[str], None],
    ) -> RunResult:
        """Judge and wait. An exception in between, such as KeyboardInterrupt, or one of
        `on_event`, stops the job before it goes on. Raises `NoWarmJudge`, which is a
        `JudgeHangs` if nothing came for too long, and `Stopped`."""
        self._send(to_wire(job))
        try:
            return self._follow(job, on_event, on_step)
        except TimeoutError:
            self._cancel()
            raise JudgeHangs("The warm judge didn't answer in time.", self.pid) from None
        except (NoWarmJudge, Stopped):
            raise
        except BaseException:
            self._cancel()
            raise

    def stop(self) -> None:
        """Have `judge`, in another thread or below a signal's handler, raise `Stopped` as soon as
        the job has ended."""
        with contextlib.suppress(OSError):  # it is over
            self._sock.shutdown(socket.SHUT_WR)

    def _follow(
        self,
        job: JobSpec,
        on_event: Callable[[ProgressEvent], None],
        on_step: Callable[[str], None],
    ) -> RunResult:
        patience_s = None  # nobody knows how long others' jobs take; a judge that dies is noticed
        while (message := self._receive(patience_s)) is not None:
            if "result" in message:
                return _read(RunResult, message["result"])
            if "cancelled" in message:
                raise Stopped
            if "lost" in message:
                raise NoWarmJudge(f"The warm judge failed: {message['lost']}")
            if "event" in message:
                patience_s = job.longest_s + _SLACK_S
                on_event(_read(ProgressEvent, message["event"]))
            elif "waits" in message:
                on_step(WAITS)
        raise NoWarmJudge("The warm judge ended in the middle; somebody may have killed it.")

    def _cancel(self) -> None:
        """Stop the job, and wait until it has stopped."""
        deadline = time.monotonic() + _STOP_S
        self.stop()
        with contextlib.suppress(NoWarmJudge, TimeoutError):
            while (left_s := deadline - time.monotonic()) > 0:
                if self._receive(left_s) is None:
                    return

    def _send(self, message: dict[str, Any]) -> None:
        try:
            self._sock.sendall(json.dumps(message).encode() + b"\n")
        except OSError as error:
            raise NoWarmJudge(f"The warm judge ended: {in_words(error)}.") from error

    def _receive(self, patience_s: float | None) -> dict[str, Any] | None:
        """The next message; None if the judge is gone. Raises TimeoutError and `NoWarmJudge`."""
        try:
            self._sock.settimeout(patience_s)
            line = self._reader.readline()
        except TimeoutError:
            raise
        except OSError:  # reset, or closed by us
            return None
        if not line.endswith(b"\n"):
            return None
        try:
            found = json.loads(line)
        except ValueError as error:
            raise _not_understood(error) from error
        if not isinstance(found, dict):
            raise _not_understood("not an object")
        return found


def _read(kind: type[T], value: Any) -> T:
    try:
        return from_wire(kind, value)
    except WireError as error:
        raise _not_understood(error) from error


def _not_understood(why: object) -> NoWarmJudge:
    return NoWarmJudge(f"The warm judge answers what we don't understand: {why}")
