"""The judge's side of all ranks of one phase, which run in one sandbox and end together."""

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from kernelbot.harness.data.channel import ChannelError, wait_for_any
from kernelbot.harness.data.encode import Encoded
from kernelbot.harness.gpu.judge_device import JudgeDevice
from kernelbot.harness.gpu.shares import Shares
from kernelbot.harness.inside.cage.loader import ProblemBroken
from kernelbot.harness.inside.ranks.joining import FROM_ENVIRONMENT
from kernelbot.harness.judge.calls.arenas import Arenas
from kernelbot.harness.judge.calls.callers import outcomes
from kernelbot.harness.judge.calls.probes import choose
from kernelbot.harness.judge.calls.session import Session
from kernelbot.harness.judge.limits import limits_of_ranks
from kernelbot.harness.judge.profiling.request import ProfileRequest
from kernelbot.harness.sandbox import Runner, RunnerClient
from kernelbot.harness.sandbox.runner_tree import RunnerTree, is_alive
from kernelbot.harness.timing.clocks import TaskClocks
from kernelbot.harness.words import runner_messages as messages
from kernelbot.harness.words.failures import AuthorFailure, death, expect_reply
from kernelbot.harness.words.order import Entry
from kernelbot.harness.words.runner_messages import Place, RunnerReply
from kernelbot.harness.words.sandbox import RunnerExit, SandboxUnavailable
from kernelbot.harness.words.windows import Ending, Reply
from kernelbot.protocol import Limits, SourceFile, Verdict

R = TypeVar("R", bound=RunnerReply)
_DYING_S = 0.02
"""A process closes its sockets a little before it counts as dead."""
_LAST_REPORT_S = 2.0
_NEVER_RUN = RunnerExit(None, None, False, 0.0, False)


@dataclass(frozen=True)
class _StartedRanks:
    """Runners of one family."""

    runner: Runner
    sessions: tuple[Session, ...]
    clocks: TaskClocks
    """The clocks of all of them together."""


class RankSession:
    """Controls as many runners as a call's data is for: fresh ones whenever that number changes, or
    if one of them has failed. Every wait ends by `deadline`.
    """

    def __init__(
        self,
        client: RunnerClient,
        limits: Limits,
        modules: frozenset[str],
        deadline: float,
        world_size: int,
        devices: tuple[JudgeDevice, ...] = (),
    ) -> None:
        """`world_size`: how many are needed first. `devices`: the judge's, one for each rank that
        there may be, if data and outputs lie in its memory."""
        self._client = client
        self._limits = limits
        self._modules = modules
        self._deadline = deadline
        self._world_size = world_size
        self._devices = devices
        self._set_up: Callable[[Session, int, int], None] | None = None
        self._offer_code: Callable[[Session], None] | None = None
        self._started: _StartedRanks | None = None
        self._endings: list[Ending] = []

    @property
    def deadline(self) -> float:
        """The time when all waiting ends, by `time.monotonic()`."""
        return self._deadline

    @deadline.setter
    def deadline(self, deadline: float) -> None:
        self._deadline = deadline
        for session in self.sessions:
            session.deadline = deadline

    @property
    def sessions(self) -> tuple[Session, ...]:
        """The current ranks' sessions, in order."""
        return self._started.sessions if self._started else ()

    @property
    def has_arenas(self) -> bool:
        """Implements `Runners`."""
        return bool(self._devices)

    @property
    def arenas(self) -> Arenas:
        """Implements `Runners`: each rank's on its own device. No rank is given another's."""
        return Arenas(self, tuple(session.arena for session in self.sessions))

    def tree(self) -> RunnerTree:
        """All ranks' processes: they are in one sandbox, and freeze together."""
        runner = self._family.runner
        return RunnerTree(runner.pid, runner.main_pid, runner.freezer)

    def tree_cpu_ns(self) -> int:
        """Processor time so far of all ranks and everything below them."""
        return self._family.clocks.tree_cpu_ns()

    @property
    def _family(self) -> _StartedRanks:
        if self._started is None:
            raise AssertionError("no ranks have been started")
        return self._started

    def setup(
        self,
        files: tuple[SourceFile, ...],
        device: str,
        fresh_output: bool,
        outputs: tuple[int, ...] | None,
        meanwhile: Callable[[], None] | None = None,
    ) -> None:
        """Store what every rank gets when it starts."""
        if meanwhile is not None:
            meanwhile()
        backend = "gloo" if device == "cpu" else "nccl"
        self._set_up = lambda session, rank, world_size: session.begin_setup(
            files, device, fresh_output, outputs, Place(rank, world_size, backend, FROM_ENVIRONMENT)
        )

    def load(self, submission: SourceFile, name: str, builds: bytes = b"") -> None:
        """Make all ranks import the author's file at the same time. Raises `AuthorFailure`."""
        self._offer_code = lambda session: session.offer_code(submission, name, builds)
        self.start_ranks(self._world_size)

    def load_library(
        self, binary: bytes, outputs: tuple[int, ...], *, emulates: bool = False
    ) -> None:
        """Raises: compiled problems have no ranks."""
        what = f"{len(binary)} bytes, outputs {outputs}{', of CUDA' if emulates else ''}"
        raise ProblemBroken(f"A compiled problem ({what}) can't have ranks.")

    def start_ranks(self, world_size: int) -> None:
        """Make sure that there are exactly as many ranks, with the author's code if it was
        offered."""
        if len(self.sessions) == world_size:
            return
        self._stop_ranks()
        limits = limits_of_ranks(self._limits, world_size)
        runner = self._client.spawn(limits, Entry.RANKS, world_size)
        clocks = TaskClocks(runner.main_pid, runner.cpu_time_ns)
        sessions = tuple(
            Session(runner, limits, self._modules, self._deadline, rank, self._device_of(rank))
            for rank in range(world_size)
        )
        self._started = _StartedRanks(runner, sessions, clocks)
        if self._set_up is not None:
            for rank, session in enumerate(sessions):
                self._set_up(session, rank, world_size)
            self._wait_until_ready()
        if self._offer_code is not None:
            self._load_all(self._offer_code)

    def _device_of(self, rank: int) -> JudgeDevice | None:
        return self._devices[rank] if self._devices else None

    def _wait_until_ready(self) -> None:
        """All ranks find each other and open their GPUs at the same time."""
        waiting = list(range(len(self.sessions)))
        try:
            while waiting:
                for rank in self._ready(waiting):
                    with self.naming(rank):
                        self.sessions[rank].end_setup()
                    waiting.remove(rank)
        except AuthorFailure as error:  # no code of the author's has run yet
            if error.verdict is Verdict.TIME_LIMIT:
                raise
            raise SandboxUnavailable(f"The ranks couldn't be set up. {error.message}") from error

    def _load_all(self, offer_code: Callable[[Session], None]) -> None:
        for session in self.sessions:
            offer_code(session)
        self.gather(messages.Loaded, "The submission failed while it was imported")

    def builds(self) -> bytes:
        """What rank 0 has compiled for itself."""
        return self.sessions[0].builds() if self.sessions else b""

    def call(self, data: Shares, max_bytes: int | None = None) -> Reply:
        """One untimed call of all ranks. Raises `AuthorFailure`. `max_bytes`: of each output."""
        parts = self.parts(data)
        if self.has_arenas:
            return self.together(self.arenas.call(parts, max_bytes))
        probes = [choose() for _ in self.sessions]
        for session, part, places in zip(self.sessions, parts, probes, strict=True):
            session.offer(part, probes=places)
        return self.together(outcomes(self, self.gather(messages.Done), probes, max_bytes))

    def parts(self, data: Shares) -> tuple[Encoded, ...]:
        """Implements `Runners`."""
        self.start_ranks(len(data.parts))
        return data.parts

    def profile(self, data: Shares) -> tuple[str, bytes]:
        """The profile of rank 0, while the others make the same calls."""
        self.start_ranks(len(data.parts))
        with contextlib.ExitStack() as stack:
            requests = [
                stack.enter_context(contextlib.closing(ProfileRequest(session.send, part)))
                for session, part in zip(self.sessions, data.parts, strict=True)
            ]
            return requests[0].answer(self.gather(messages.Profiled)[0])

    def inputs_changed(self, data: Shares) -> bool:
        """Whether the last call changed any rank's inputs."""
        pairs = zip(self.sessions, data.parts, strict=True)
        return any(session.inputs_changed(part) for session, part in pairs)

    def gather(self, wanted: type[R], where: str = "The submission failed") -> list[R]:
        """Each rank's next message, which must be `wanted`. Raises `AuthorFailure`.

        If one says anything else, the others may wait for it for ever: then all are ended.
        """
        replies: dict[int, R] = {}
        while len(replies) < len(self.sessions):
            for rank in self._ready([r for r in range(len(self.sessions)) if r not in replies]):
                reply = self.sessions[rank].receive()
                try:
                    with self.naming(rank):
                        replies[rank] = expect_reply(reply, wanted, where)
                except AuthorFailure as error:
                    cause = self._death() or error
                    self._stop_ranks()
                    raise cause from error
        return [replies[rank] for rank in sorted(replies)]

    def check(self) -> None:
        """Raise `AuthorFailure` if a rank is dead or printed too much, or the time is up."""
        for rank, session in enumerate(self.sessions):
            try:
                with self.naming(rank):
                    session.check()
            except AuthorFailure as error:
                cause = self._death() or error
                self._stop_ranks()
                raise cause from error

    def _death(self) -> AuthorFailure | SandboxUnavailable | None:
        """The failure of the rank that ended first, which may be the cause of the others'."""
        runner = self._family.runner
        time.sleep(_DYING_S)
        if all(is_alive(pid) for pid in runner.rank_pids):
            return None
        ended = runner.wait(_LAST_REPORT_S)
        if not ended:
            return None
        return death(ended, limits_of_ranks(self._limits, len(self.sessions)))

    def _ready(self, waiting: list[int]) -> list[int]:
        """Those of the waiting ranks that have sent something or have died."""
        channels = [self.sessions[rank].channel for rank in waiting]
        try:
            ready = wait_for_any(channels, self._deadline)
        except ChannelError:
            return waiting[:1]
        return [rank for rank, channel in zip(waiting, channels, strict=True) if channel in ready]

    def together(self, replies: Sequence[Reply]) -> Reply:
        """All ranks' outcomes as one: their values in a tuple, and the time from the first rank's
        begin to the last one's return. Ranks that share a processor begin one after another."""
        windows = [reply.window for reply in replies]
        start_ns = min(window.start_ns for window in windows)
        end_ns = max(window.start_ns + window.claim_ns for window in windows)
        return Reply(
            value=tuple(reply.value for reply in replies),
            window=replace(windows[0], claim_ns=end_ns - start_ns, start_ns=start_ns),
            size_bytes=sum(reply.size_bytes for reply in replies),
            aliased=any(reply.aliased for reply in replies),
            parts=sum(reply.parts for reply in replies),
            layouts=tuple(layout for reply in replies for layout in reply.layouts),
            gaps=any(reply.gaps for reply in replies),
        )

    @contextlib.contextmanager
    def naming(self, rank: int) -> Iterator[None]:
        """Add the rank to the message of a failure in the block."""
        try:
            yield
        except AuthorFailure as error:
            error.message = f"Rank {rank}: {error.message}"
            raise

    def terminate(self) -> None:
        """Begin to end all ranks, once their text buffers are flushed."""
        for session in self.sessions:
            session.say_goodbye()
        if self._started is not None:
            self._started.runner.terminate()

    def abort(self) -> Ending:
        """Kill all ranks, and return once they are gone. Harmless when repeated."""
        self._stop_ranks()
        return Ending(
            self._endings[-1].exit if self._endings else _NEVER_RUN,
            "".join(ending.stdout for ending in self._endings),
            "".join(ending.stderr for ending in self._endings),
        )

    def _stop_ranks(self) -> None:
        endings = [session.abort() for session in self.sessions]
        self._endings.extend(endings[:1])  # one sandbox, one exit, one pair of streams
        self._started = None
