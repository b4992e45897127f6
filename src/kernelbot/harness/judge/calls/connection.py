"""The judge's connection to one runner: what is sent and received, and how it ends.

If the runner falls silent, dies or floods, waiting for it raises what that means for the author.
"""

import contextlib
import os
import time

from kernelbot.harness.data.channel import (
    Channel,
    ChannelClosed,
    ChannelError,
    ChannelGarbage,
    ChannelTimeout,
)
from kernelbot.harness.data.descriptors import close_apart
from kernelbot.harness.data.wire import close_all
from kernelbot.harness.sandbox import Runner
from kernelbot.harness.sandbox.runner_tree import is_ending
from kernelbot.harness.timing.clocks import TaskClocks
from kernelbot.harness.timing.threads import kept_waiting_s, longest_wait_s
from kernelbot.harness.words.failures import AuthorFailure, death, garbage, hung_up, too_much_output
from kernelbot.harness.words.runner_messages import Finish, RunnerReply, RunnerRequest
from kernelbot.harness.words.sandbox import RunnerExit, SandboxUnavailable, stood_still
from kernelbot.harness.words.windows import Ending
from kernelbot.protocol import Limits, Verdict

_FINISH_S = 0.5
_FINISH_LATE_S = 0.02
"""For a runner that hasn't answered in all of its time: most of these never will."""
_DRAIN_S = 0.5
_DYING_S = 5.0
"""A large process that was killed frees its memory before anybody can tell how it ended."""


class RunnerConnection:
    """Every wait ends by `deadline` (of `time.monotonic()`)."""

    def __init__(self, runner: Runner, limits: Limits, deadline: float, number: int) -> None:
        """With the rank of this number in `runner`, or the only one."""
        self.number = number
        self.limits = limits
        self.deadline = deadline
        self.own_limit_s: float | None = None
        """What `Session.own_limit_s` is."""
        self._runner = runner
        self._ending: Ending | None = None
        self._is_late = False
        self._waited_before_s = 0.0
        """How long others had its processor before the time that counts now."""
        self._began_at = time.monotonic()
        """When that time began."""
        try:
            self._pidfd = os.pidfd_open(runner.pid)
        except ProcessLookupError:
            raise SandboxUnavailable("The runner ended before it had a task.") from None
        self.channel = Channel(runner.channels[number], alive_fd=self._pidfd, glance=self._glance)

    def peak_bytes(self) -> int:
        """Implements `Runner`."""
        return self._runner.peak_bytes()

    def begin_time(self) -> None:
        """What it waited for until now is no excuse for what comes."""
        self._waited_before_s, self._began_at = self._kept_waiting_s(), time.monotonic()

    def _kept_waiting_s(self) -> float:
        clocks = TaskClocks(self._runner.main_pid, self._runner.cpu_time_ns)
        with contextlib.closing(clocks):
            return kept_waiting_s(clocks)

    def send(self, request: RunnerRequest, fds: list[int] | None = None) -> None:
        """Ask the runner. Raises `AuthorFailure` if it is dead."""
        try:
            self.channel.send(request, fds or (), self.deadline)
        except ChannelError as error:
            raise self._death(error) from error

    def receive(self) -> RunnerReply:
        """What the runner says next. Raises `AuthorFailure`."""
        try:
            reply, fds = self.channel.receive(RunnerReply, self.deadline)
        except ChannelError as error:
            raise self._death(error) from error
        if fds:  # the runner has none to send
            close_apart(lambda: close_all(fds))
        return reply

    def check(self) -> None:
        """Raise `AuthorFailure` if the runner is dead, printed too much, or has no time left."""
        self._watch_output()
        try:
            self.channel.check(self.deadline)
        except ChannelError as error:
            raise self._death(error) from error

    def has_message(self) -> bool:
        """Whether the runner has said something that wasn't read. Raises `AuthorFailure`."""
        try:
            return self.channel.has_message()
        except ChannelError as error:
            raise self._death(error) from error

    def cause_of(self, failure: AuthorFailure) -> AuthorFailure | SandboxUnavailable:
        """The runner's end if that explains a failure, which is to be raised; else the failure:
        what can't be read of a runner that lives is its own doing."""
        ended = self._runner.wait(_DYING_S if is_ending(self._runner.main_pid) else 0.0)
        return failure if ended is None else self._blame(ended)

    def say_goodbye(self) -> None:
        """Let a runner that lives flush the author's text buffers."""
        if self._ending is None:
            self._runner.thaw()  # one that waits for its turn would be waited for in vain
            patience_s = _FINISH_LATE_S if self._is_late else _FINISH_S
            with contextlib.suppress(ChannelError):
                self.channel.send(Finish(), deadline=time.monotonic() + patience_s)
                self.channel.receive(RunnerReply, time.monotonic() + patience_s)

    def abort(self) -> Ending:
        """Kill the runner's whole tree, and return once it is gone. Harmless when repeated."""
        if self._ending is None:
            ended = self._runner.kill()
            os.close(self._pidfd)
            self._ending = Ending(ended, self._runner.stdout.text, self._runner.stderr.text)
        return self._ending

    def _glance(self) -> None:
        self._watch_output()
        if self.own_limit_s is not None and not self._is_late:
            late = self._late()
            if late.had_s - late.kept_waiting_s >= self.own_limit_s:
                self._is_late = True
                raise late

    def _late(self) -> AuthorFailure:
        late = AuthorFailure(
            Verdict.TIME_LIMIT, "The phase took longer than its time limit. Do less in each call."
        )
        late.waited_s = longest_wait_s(TaskClocks(self._runner.main_pid))
        late.kept_waiting_s = self._kept_waiting_s() - self._waited_before_s
        if self.own_limit_s is not None:
            late.had_s = time.monotonic() - self._began_at
        return late

    def _watch_output(self) -> None:
        for stream in (self._runner.stdout, self._runner.stderr):
            if stream.overflowed:
                raise too_much_output(self.limits)

    def _death(self, error: ChannelError) -> AuthorFailure | SandboxUnavailable:
        """The conversation broke off: find out why. Garbage before the end of a runner is part of
        what it was saying."""
        if isinstance(error, ChannelTimeout):
            self._is_late = True
            if (still_s := self.channel.stood_still_s) > 0:
                return stood_still(still_s)
            return self._late()
        if isinstance(error, ChannelGarbage):
            return garbage(str(error))
        assert isinstance(error, ChannelClosed)
        ended = self._runner.wait(_DRAIN_S)
        if ended is None and is_ending(self._runner.main_pid):
            ended = self._runner.wait(_DYING_S)
        if ended is None:
            self.abort()
        return hung_up() if ended is None else self._blame(ended)

    def _blame(self, ended: RunnerExit) -> AuthorFailure | SandboxUnavailable:
        self.abort()
        try:
            self._watch_output()
        except AuthorFailure as overflow:
            return overflow
        return death(ended, self.limits)
