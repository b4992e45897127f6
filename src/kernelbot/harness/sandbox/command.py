"""Running one command in a fresh runner: a compiler, or a problem's own script."""

import os
import select
import signal
import time
from collections.abc import Callable

from kernelbot.harness.data.channel import GLANCE_MS, Channel, ChannelError, ChannelTimeout
from kernelbot.harness.data.descriptors import close_apart
from kernelbot.harness.data.wire import close_all
from kernelbot.harness.inside import execute
from kernelbot.harness.sandbox.client import RunnerClient
from kernelbot.harness.sandbox.runner import Runner, exit_and_signal
from kernelbot.harness.words.order import RunnerEntry
from kernelbot.harness.words.sandbox import (
    CommandResult,
    RunnerExit,
    SandboxUnavailable,
    stood_still,
)
from kernelbot.protocol import Limits, Verdict

_REPORT_LIMIT_BYTES = 1 << 20
_LONGEST_LINE_BYTES = 16 << 20


class CommandNotStarted(OSError):
    """The program isn't there or can't be executed; the text is the system's."""


def run_command(
    client: RunnerClient,
    argv: list[str],
    *,
    files: dict[str, bytes] | None = None,
    env: dict[str, str] | None = None,
    limits: Limits | None = None,
    timeout_s: float,
    collect: tuple[str, ...] = (),
    popcorn_fd: bool = False,
    on_line: Callable[[str], None] | None = None,
) -> CommandResult:
    """Run `argv` in the work folder of a fresh runner, which is dead on return.

    `files` are written there first; those named in `collect` are read back if they are plain
    files. With `popcorn_fd` the command inherits a descriptor, named in its environment, whose
    lines go to `on_line` while it runs. Grandchildren that outlive the command are not waited for.
    Raises `SandboxUnavailable`, and `CommandNotStarted` when there is no such program.
    """
    bounds = limits or Limits()
    contents = files or {}
    order = execute.CommandOrder(
        argv=tuple(argv),
        env=env or {},
        files=tuple(contents),
        collect=collect,
        popcorn_fd=popcorn_fd,
    )
    runner = client.spawn(bounds, RunnerEntry.EXEC)
    started = time.monotonic()
    lines = _LineReader(bounds.output_limit_bytes, on_line)
    try:
        conversation = _CommandConversation(runner, lines, deadline=started + timeout_s)
        conversation.begin(order, contents)
        answer = conversation.finish()
        duration_s = time.monotonic() - started
    finally:
        ending = runner.kill()
        lines.finish()
    return _conclude(runner, ending, answer, lines, duration_s)


class _CommandReport:
    """What the runner's side reported: nothing yet, or a wait status and files."""

    def __init__(self) -> None:
        self.wait_status: int | None = None
        self.error: str | None = None
        self.collected: dict[str, bytes] = {}
        self.timed_out = False


class _LineReader:
    """The lines on the result descriptor, as they come, up to a cap."""

    def __init__(self, limit_bytes: int, on_line: Callable[[str], None] | None) -> None:
        self.fd = -1
        self.overflowed = False
        self.content = bytearray()
        self._limit_bytes = limit_bytes
        self._on_line = on_line
        self._pending = bytearray()

    def open(self) -> int:
        """Make the pipe; returns the end to write to."""
        self.fd, writer = os.pipe()
        os.set_blocking(self.fd, False)
        return writer

    def read(self) -> bool:
        """Take what is there; False at the end."""
        try:
            block = os.read(self.fd, 1 << 16)
        except BlockingIOError:
            return True
        room = self._limit_bytes - len(self.content)
        self.overflowed = self.overflowed or len(block) > room
        self.content += block[:room]
        first, *others = block[:room].split(b"\n")
        self._pending += first[: _LONGEST_LINE_BYTES - len(self._pending)]
        for other in others:
            self._pass_on(bytes(self._pending))
            self._pending = bytearray(other)
        return bool(block)

    def finish(self) -> None:
        """Read what the dead have left, and close."""
        if self.fd < 0:
            return
        os.set_blocking(self.fd, False)
        while _is_readable(self.fd) and not self.overflowed and self.read():
            pass
        if self._pending:
            self._pass_on(bytes(self._pending))
        os.close(self.fd)
        self.fd = -1

    def _pass_on(self, line: bytes) -> None:
        if self._on_line is not None:
            self._on_line(line.decode(errors="replace"))


def _is_readable(fd: int) -> bool:
    return bool(select.select([fd], [], [], 0)[0])


class _CommandConversation:
    """The exchange with the runner's side, under one deadline."""

    def __init__(self, runner: Runner, lines: _LineReader, deadline: float) -> None:
        self._channel = Channel(runner.channel, _REPORT_LIMIT_BYTES)
        self._lines = lines
        self._deadline = deadline

    def begin(self, order: execute.CommandOrder, files: dict[str, bytes]) -> None:
        """Send the order. A runner that ends meanwhile is noticed in `finish`."""
        fds = (self._lines.open(),) if order.popcorn_fd else ()
        try:
            self._channel.send(order, fds, self._deadline)
            for name in order.files:
                self._channel.send_bytes(files[name], deadline=self._deadline)
        except ChannelError:  # it ran out of its limits, or of time; its end will tell
            return
        finally:
            for fd in fds:
                os.close(fd)

    def finish(self) -> _CommandReport:
        """Wait for the report, reading the result descriptor meanwhile. Raises
        `SandboxUnavailable` if the time is up because this process stood still."""
        answer = _CommandReport()
        try:
            if self._wait_for_report():
                self._read_report(answer)
        except ChannelTimeout:
            if self._channel.stood_still_s > 0:
                raise stood_still(self._channel.stood_still_s) from None
            answer.timed_out = True
        except ChannelError:  # the runner died before it could say more
            return answer
        return answer

    def _left_s(self) -> float:
        left_s = self._deadline - time.monotonic()
        if left_s <= 0:
            raise ChannelTimeout("the time is up")
        return left_s

    def _wait_for_report(self) -> bool:
        """True when a report is there to be read; False when too much came on the descriptor."""
        poll = select.poll()
        poll.register(self._channel, select.POLLIN)
        if self._lines.fd >= 0:
            poll.register(self._lines.fd, select.POLLIN)
        while True:
            since_s = time.monotonic()
            events = poll.poll(min(self._left_s() * 1000, GLANCE_MS))
            self._channel.note_standstill(since_s)
            for fd, _ in events:
                if fd == self._channel.fileno():
                    return True
                if not self._lines.read():
                    poll.unregister(fd)
                if self._lines.overflowed:
                    return False

    def _read_report(self, answer: _CommandReport) -> None:
        report, fds = self._channel.receive(execute.CommandReply, self._deadline)
        if fds:  # the runner has none to send
            close_apart(lambda: close_all(fds))
        if isinstance(report, execute.NoSuchCommand):
            answer.error = report.error
        if not isinstance(report, execute.CommandEnded):
            return
        answer.wait_status = report.wait_status
        for name in report.collected:
            answer.collected[name] = self._channel.receive_bytes(
                execute.COLLECT_LIMIT_BYTES, self._deadline
            )


def _conclude(
    runner: Runner,
    ending: RunnerExit,
    answer: _CommandReport,
    lines: _LineReader,
    duration_s: float,
) -> CommandResult:
    if answer.error is not None:
        raise CommandNotStarted(answer.error)
    if _ended_from_outside(runner, ending, answer, lines):
        raise SandboxUnavailable("The runner was ended from outside of its sandbox.")
    exit_code, signal_number = exit_and_signal(answer.wait_status)
    return CommandResult(
        exit_code=exit_code,
        signal=signal_number,
        stdout=runner.stdout.text,
        stderr=runner.stderr.text,
        fd_output=bytes(lines.content),
        collected=answer.collected,
        duration_s=duration_s,
        limit=_limit(runner, ending, answer, lines, signal_number),
        timed_out=answer.timed_out,
    )


def _ended_from_outside(
    runner: Runner, ending: RunnerExit, answer: _CommandReport, lines: _LineReader
) -> bool:
    """Whether nothing tells how the command or its runner has ended, and no limit was hit."""
    reported = (answer.wait_status, ending.exit_code, ending.signal)
    return (
        all(status is None for status in reported)
        and _limit(runner, ending, answer, lines, None) is None
    )


def _limit(
    runner: Runner,
    ending: RunnerExit,
    answer: _CommandReport,
    lines: _LineReader,
    signal_number: int | None,
) -> Verdict | None:
    if runner.stdout.overflowed or runner.stderr.overflowed or lines.overflowed:
        return Verdict.OUTPUT_LIMIT
    if ending.out_of_memory:
        return Verdict.MEMORY_LIMIT
    if answer.timed_out or signal.SIGXCPU in (signal_number, ending.signal):
        return Verdict.TIME_LIMIT
    return None
