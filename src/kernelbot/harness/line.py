"""The judge's line to one runner: how one talks with it, and how it ends.

Where the runner falls silent, dies or floods, whoever waits for it is told what that means for the
author.
"""

import contextlib
import os
import time
from typing import Any

from kernelbot.harness.channel import (
    Channel,
    ChannelClosed,
    ChannelError,
    ChannelGarbage,
    ChannelTimeout,
)
from kernelbot.harness.failure import AuthorFailure, death, garbage
from kernelbot.harness.sandbox import Runner
from kernelbot.harness.windows import Ending
from kernelbot.protocol import Limits, Verdict

_FINISH_S = 0.5
_DRAIN_S = 0.5


class Line:
    """Every wait ends by `deadline` (of `time.monotonic()`)."""

    def __init__(
        self, runner: Runner, limits: Limits, deadline: float, rank: int | None = None
    ) -> None:
        """Take over `runner`, or of several ranks in it the one named."""
        self.limits = limits
        self.deadline = deadline
        self._runner = runner
        self._ending: Ending | None = None
        self._pidfd = os.pidfd_open(runner.pid)
        self.channel = Channel(
            runner.channels[rank or 0], alive_fd=self._pidfd, glance=self._watch_output
        )

    @property
    def init_pid(self) -> int:
        """The runner's first process, ours; all others are below it."""
        return self._runner.pid

    def send(self, message: dict[str, Any], fds: list[int] | None = None) -> None:
        """Say something to the runner. Raises `AuthorFailure` where it is dead."""
        try:
            self.channel.send(message, fds or (), self.deadline)
        except ChannelError as error:
            raise self._death(error) from error

    def say_word(self) -> None:
        """Let the runner go on that waits for a word. Raises `AuthorFailure` where it is dead."""
        try:
            self.channel.say_word(self.deadline)
        except ChannelError as error:
            raise self._death(error) from error

    def receive(self) -> dict[str, Any]:
        """What the runner says next. Raises `AuthorFailure`."""
        try:
            reply, fds = self.channel.receive(self.deadline)
        except ChannelError as error:
            raise self._death(error) from error
        for fd in fds:
            os.close(fd)
        if not isinstance(reply.get("op"), str):
            raise garbage(reply)
        return reply

    def wait_for_message(self) -> None:
        """Return once the runner has said something. Raises `AuthorFailure`."""
        try:
            self.channel.wait_for_message(self.deadline)
        except ChannelError as error:
            raise self._death(error) from error

    def has_message(self) -> bool:
        """Whether the runner has said something that wasn't read."""
        return self.channel.has_message()

    def strike(self) -> None:
        """Begin to end the runner, once its text buffers are flushed."""
        if self._ending is None:
            self.say_goodbye()
            self._runner.strike()

    def say_goodbye(self) -> None:
        """Let the runner flush the author's text buffers."""
        with contextlib.suppress(ChannelError):
            self.channel.send({"op": "finish"}, deadline=time.monotonic() + _FINISH_S)
            self.channel.receive(time.monotonic() + _FINISH_S)

    def abort(self) -> Ending:
        """Kill the runner's whole tree, and return once it is gone. Harmless when repeated."""
        if self._ending is None:
            ended = self._runner.kill()
            os.close(self._pidfd)
            self._ending = Ending(ended, self._runner.stdout.text, self._runner.stderr.text)
        return self._ending

    def _watch_output(self) -> None:
        for stream in (self._runner.stdout, self._runner.stderr):
            if stream.overflowed:
                raise AuthorFailure(
                    Verdict.OUTPUT_LIMIT,
                    f"The submission printed more than {self.limits.output_limit_bytes} bytes.",
                )

    def _death(self, error: ChannelError) -> AuthorFailure:
        """The conversation broke off: find out why."""
        if isinstance(error, ChannelTimeout):
            return AuthorFailure(Verdict.TIME_LIMIT, "The phase took longer than its time limit.")
        if isinstance(error, ChannelGarbage):
            return garbage({"op": str(error)})
        assert isinstance(error, ChannelClosed)
        self._runner.wait(_DRAIN_S)
        ended = self.abort().exit
        try:
            self._watch_output()
        except AuthorFailure as overflow:
            return overflow
        return death(ended, self.limits)
