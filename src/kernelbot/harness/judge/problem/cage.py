"""The process in which a job's problem runs: a sandbox of its own, as the judge holds it."""

import contextlib
import os
import signal
import time

from kernelbot.harness.data.channel import (
    MAX_PROBLEM_MESSAGE_BYTES,
    Channel,
    ChannelClosed,
    ChannelError,
    ChannelTimeout,
)
from kernelbot.harness.inside.cage.loader import ProblemBroken
from kernelbot.harness.sandbox import Runner, RunnerClient
from kernelbot.harness.sandbox.runner_tree import is_ending
from kernelbot.harness.timing.clocks import TaskClocks
from kernelbot.harness.words import cage_messages as messages
from kernelbot.harness.words.cage_messages import CageRequest
from kernelbot.harness.words.order import RunnerEntry
from kernelbot.harness.words.sandbox import RunnerExit, SandboxUnavailable
from kernelbot.protocol import JobSpec, Limits
from kernelbot.protocol.phases import most_ranks

_LEAST_MEMORY_BYTES = 2 << 30
_OPEN_FILES = 1 << 16
"""Far more than an author has, or their descriptors under way would keep the data from coming."""
_DYING_S = 5.0


def cage_limits(job: JobSpec) -> Limits:
    """What the problem's code may use: enough for the data of a call, its copy, the reference's
    answer, and the author's; as many tasks and as much shared memory as the author's, for each of
    its ranks."""
    longest_s, ranks = job.longest_s, most_ranks(job.problem)
    return Limits(
        memory_bytes=max(4 * job.limits.memory_bytes, _LEAST_MEMORY_BYTES),
        processes=job.limits.processes * ranks,
        open_files=_OPEN_FILES,
        file_size_bytes=job.limits.file_size_bytes * ranks,
        cpu_time_s=longest_s * (os.cpu_count() or 1),
    )


class Cage:
    """The sandboxed process with one job's problem in it. Must be closed."""

    def __init__(self, job: JobSpec, client: RunnerClient) -> None:
        """Order the process; it moves in meanwhile. Raises `SandboxUnavailable`."""
        self._job = job
        timeouts = job.problem.timeouts
        self.patience_s = max(timeouts.test_s, timeouts.benchmark_s, timeouts.ranked_s)
        """How long one answer may take: no phase has more."""
        self._limits = cage_limits(job)
        entry = RunnerEntry.EXAMINE_RANKS if job.problem.multi_gpu else RunnerEntry.EXAMINE
        self._arrive = client.order(self._limits, entry)
        self._runner: Runner | None = None
        self._has_failed = False
        self._control_channel: Channel | None = None

    @property
    def control_channel(self) -> Channel:
        """The channel to it, with the problem sent ahead. Raises `ProblemBroken`,
        `SandboxUnavailable`."""
        if self._control_channel is None:
            runner = self._arrived()
            with contextlib.suppress(OSError):  # it computes when nobody is timed, so on any
                os.sched_setaffinity(runner.main_pid, os.sched_getaffinity(0))
            self._control_channel = Channel(runner.channel, MAX_PROBLEM_MESSAGE_BYTES)
            self.send(messages.LoadProblem(self._job.problem))
        return self._control_channel

    def load(self) -> None:
        """Have the problem loaded, which goes on meanwhile. Raises `ProblemBroken`,
        `SandboxUnavailable`."""
        _ = self.control_channel

    def send(self, request: CageRequest, fds: tuple[int, ...] = ()) -> None:
        """Raises `ProblemBroken`, `SandboxUnavailable`."""
        control_channel = self.control_channel
        try:
            control_channel.send(request, fds, time.monotonic() + self.patience_s)
        except ChannelError as error:
            raise self.cause_of(error) from error

    def cause_of(self, error: ChannelError) -> ProblemBroken | SandboxUnavailable:
        """Why the conversation broke off."""
        if isinstance(error, ChannelTimeout):
            return ProblemBroken(f"The problem's code didn't answer within {self.patience_s:g} s.")
        if not isinstance(error, ChannelClosed):
            return ProblemBroken(f"The problem's code said what it should not: {error}.")
        ended = self._arrived().wait(_DYING_S)
        if ended is None:
            return ProblemBroken("The problem's code closed the harness's end of the conversation.")
        return self._blame(ended)

    def _blame(self, ended: RunnerExit) -> ProblemBroken | SandboxUnavailable:
        if ended.out_of_memory:
            mebibytes = self._limits.memory_bytes >> 20
            return ProblemBroken(f"The problem's code used more than {mebibytes} MiB of memory.")
        if self._arrived().stdout.overflowed or self._arrived().stderr.overflowed:
            return ProblemBroken("The problem's code printed without end.")
        if ended.signal not in (None, signal.SIGKILL):
            return ProblemBroken(f"The problem's code was ended by signal {ended.signal}.")
        if ended.exit_code is not None:
            return ProblemBroken(
                f"The problem's code ended its own process with exit code {ended.exit_code}."
            )
        return SandboxUnavailable("The problem's process was ended from outside of its sandbox.")

    def computed_ns(self) -> int:
        """Processor time of its living processes so far."""
        return TaskClocks(self._arrived().main_pid).tree_cpu_ns()

    def is_ending(self) -> bool:
        """Whether all of it is gone, or about to be."""
        return is_ending(self._arrived().main_pid)

    def terminate(self) -> None:
        """Begin to end it; `close` then waits for less."""
        if self._runner is not None:
            self._runner.terminate()

    def close(self) -> None:
        """End it, and return once nothing of it is left. Raises `SandboxUnavailable`."""
        if not self._has_failed:
            self._arrived().kill()

    def _arrived(self) -> Runner:
        if self._runner is None:
            self._has_failed = True  # unless it comes; it can be waited for but once
            self._runner = self._arrive()
            self._has_failed = False
        return self._runner
