"""The judge's side of the runners of one phase of one submission: one alone, or several ranks.

They run in one sandbox and end together.
"""

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeVar

from kernelbot.harness.data.channel import ChannelError, wait_for_any
from kernelbot.harness.data.encode import Encoded
from kernelbot.harness.gpu.judge_device import JudgeDevice
from kernelbot.harness.gpu.shares import Shares
from kernelbot.harness.inside.ranks.joining import FROM_ENVIRONMENT
from kernelbot.harness.judge.calls.rank import RankRunner
from kernelbot.harness.judge.calls.steps import CallSteps
from kernelbot.harness.judge.limits import limits_of_ranks
from kernelbot.harness.judge.profiling.request import ProfileRequest
from kernelbot.harness.sandbox import RunnerClient
from kernelbot.harness.sandbox.runner_tree import RunnerTree, is_alive
from kernelbot.harness.timing.clocks import TaskClocks
from kernelbot.harness.words import runner_messages as messages
from kernelbot.harness.words.failures import NO_KERNEL, AuthorFailure, death, expect_reply, garbage
from kernelbot.harness.words.order import RunnerEntry
from kernelbot.harness.words.runner_messages import (
    RankPosition,
    RefusalReason,
    RequestRefused,
    RunnerReply,
)
from kernelbot.harness.words.sandbox import SandboxUnavailable
from kernelbot.harness.words.windows import Ending, Reply
from kernelbot.protocol import Limits, SourceFile, Verdict

R = TypeVar("R", bound=RunnerReply)
T = TypeVar("T")
_DYING_S = 0.02
"""A process closes its sockets a little before it counts as dead."""
_LAST_REPORT_S = 2.0
_FAILED = "The submission failed"
_NOT_EXPORTED = (
    'The submission exports no function extern "C" void custom_kernel(...). Define it so, with the '
    "arguments that the problem names."
)


class Session:
    """Controls as many runners as a call's data is for: fresh ones whenever that number changes, or
    if one of several ranks has failed. Every wait ends by `deadline`.
    """

    def __init__(
        self,
        client: RunnerClient,
        limits: Limits,
        modules: frozenset[str],
        deadline: float,
        devices: tuple[JudgeDevice, ...] = (),
        world_size: int | None = None,
    ) -> None:
        """With fresh runners. Raises `SandboxUnavailable`.

        `devices`: the judge's, one for each runner that there may be, if data and outputs lie in
        its memory. `world_size`: how many ranks are needed first; None: the problem has no ranks.
        """
        self._client = client
        self._limits = limits
        self._modules = modules
        self._deadline = deadline
        self._own_limit_s: float | None = None
        self._devices = devices
        self._is_alone = world_size is None
        self._set_up_again: Callable[[], None] = lambda: None
        self._load_again: Callable[[], None] = lambda: None
        self._endings: list[Ending] = []
        self._start(world_size or 1)

    @property
    def deadline(self) -> float:
        """The time when all waiting ends, by `time.monotonic()`."""
        return self._deadline

    @deadline.setter
    def deadline(self, deadline: float) -> None:
        self._deadline = deadline
        for rank in self.ranks:
            rank.deadline = deadline

    @property
    def own_limit_s(self) -> float | None:
        """How much time each runner has for itself, without what others' programs had of its
        processor; None means that the deadline alone counts."""
        return self._own_limit_s

    @own_limit_s.setter
    def own_limit_s(self, limit_s: float | None) -> None:
        self._own_limit_s = limit_s
        for rank in self.ranks:
            rank.own_limit_s = limit_s

    def begin_time(self) -> None:
        """What runners waited for until now is no excuse for what comes."""
        for rank in self.ranks:
            rank.begin_time()

    @property
    def has_arenas(self) -> bool:
        """Whether data and outputs lie in the judge's memory on the devices."""
        return bool(self._devices)

    @property
    def steps(self) -> CallSteps:
        """The steps of a call, with the memory of each runner: no rank is given another's."""
        return CallSteps(self, tuple(rank.buffers for rank in self.ranks))

    def tree(self) -> RunnerTree:
        """All processes of all runners but the first, which is ours: they freeze together."""
        runner = self._runner
        return RunnerTree(runner.pid, runner.main_pid, runner.freezer)

    def tree_cpu_ns(self) -> int:
        """Processor time so far of all runners and everything below them."""
        return self._clocks.tree_cpu_ns()

    def setup(
        self,
        files: tuple[SourceFile, ...],
        device: str,
        fresh_output: bool,
        outputs: tuple[int, ...] | None,
        meanwhile: Callable[[], None] | None = None,
        *,
        is_first: bool = False,
    ) -> None:
        """Give the runners the problem's shared files, before any code of the author's. Raises
        `SandboxUnavailable`, `ProblemBroken`, `AuthorFailure`.

        `outputs`: of a compiled problem, which leaves are outputs; None for Python. `meanwhile`: is
        done while the runners get ready, which takes some tenths of a second with a GPU.
        `is_first`: no code of the author's has run yet in the time that ends by the deadline.
        """
        self._set_up_again = partial(self._set_up, files, device, fresh_output, outputs)
        self._set_up(files, device, fresh_output, outputs, meanwhile, is_first=is_first)

    def load(self, submission: SourceFile, name: str, builds: bytes = b"") -> None:
        """Import the author's file, beside what `builds` found. Raises `AuthorFailure`."""
        self._load(lambda rank: rank.offer_code(submission, name, builds), NO_KERNEL)

    def load_library(
        self, binary: bytes, outputs: tuple[int, ...], *, emulates: bool = False
    ) -> None:
        """Load the author's shared object. Raises `AuthorFailure`. `emulates`: the processor runs
        its CUDA kernels."""
        self._load(
            lambda rank: rank.offer_library(binary, outputs, emulates=emulates), _NOT_EXPORTED
        )

    def builds(self) -> bytes:
        """What the submission has compiled for itself, in the first runner: bytes that only the
        next one opens. Empty if there is nothing, or more than is carried."""
        return self.ranks[0].builds()

    def call(
        self, data: Encoded | Shares, max_bytes: int | None = None, *, inputs: bool = False
    ) -> Reply:
        """One untimed call; `inputs`: `inputs_changed` will be asked. Raises `AuthorFailure`, also
        if an output has more bytes than `max_bytes`, if that is known: then none of them is read;
        and `GpuError`."""
        parts = self.parts(data)
        steps = self.steps
        return self.together(steps.values(steps.call_untimed(parts, max_bytes, inputs=inputs)))

    def parts(self, data: Encoded | Shares) -> tuple[Encoded, ...]:
        """The data of each runner; afterwards there are as many runners as parts."""
        self._start_ranks(len(data.parts))
        return data.parts

    def profile(self, data: Encoded | Shares) -> tuple[str, bytes]:
        """A table and a gzipped trace (maybe empty) as the first runner took them, while others
        make the same calls: the author's word."""
        parts = self.parts(data)
        with contextlib.ExitStack() as stack:
            requests = [
                stack.enter_context(contextlib.closing(ProfileRequest(rank.send, part)))
                for rank, part in zip(self.ranks, parts, strict=True)
            ]
            return requests[0].answer(self.gather(messages.Profiled)[0])

    def inputs_changed(self, data: Encoded | Shares) -> bool:
        """Whether the last call left any runner's inputs other than they were."""
        pairs = zip(self.ranks, data.parts, strict=True)
        return any(rank.buffers.inputs_changed(part) for rank, part in pairs)

    def gather(self, wanted: type[R], where: str = _FAILED, missing: str = NO_KERNEL) -> list[R]:
        """What each runner says next, which is to be `wanted`. Raises `AuthorFailure`; see
        `expect_reply`."""

        def heard(_rank: RankRunner, reply: RunnerReply) -> R:
            if wanted is messages.IsReady and not _may_answer_unready(reply):
                raise garbage(reply)
            return expect_reply(reply, wanted, where, missing)

        with self._ending_all():
            return self._hear(heard)

    def check(self) -> None:
        """Raise `AuthorFailure` if a runner is dead or printed too much, or the time is up."""
        with self._ending_all():
            for rank in self.ranks:
                with self.naming(rank.number):
                    rank.check()

    def together(self, replies: Sequence[Reply]) -> Reply:
        """The outcomes of all runners as one. With ranks, their values are in a tuple, and the time
        is that from the first rank's begin to the last one's return: those that share a processor
        begin one after another."""
        if self._is_alone:
            return replies[0]
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
    def naming(self, number: int) -> Iterator[None]:
        """Within, a failure says of which rank it is, if there are ranks."""
        try:
            yield
        except AuthorFailure as error:
            if not self._is_alone:
                error.message = f"Rank {number}: {error.message}"
            raise

    def terminate(self) -> None:
        """Begin to end all runners, once their text buffers are flushed; `abort` then waits for
        less."""
        for rank in self.ranks:
            rank.say_goodbye()
        self._runner.terminate()

    def abort(self) -> Ending:
        """Kill all runners, and return once they are gone. Harmless when repeated."""
        self._stop()
        return Ending(
            self._endings[-1].exit,
            "".join(ending.stdout for ending in self._endings),
            "".join(ending.stderr for ending in self._endings),
        )

    def _start_ranks(self, world_size: int) -> None:
        """Make sure that there are exactly as many, with the author's code if it was loaded."""
        if len(self.ranks) != world_size:
            self._stop()
            self._start(world_size)
            self._set_up_again()
            self._load_again()

    def _start(self, world_size: int) -> None:
        limits = limits_of_ranks(self._limits, world_size)
        entry = RunnerEntry.SERVE if self._is_alone else RunnerEntry.RANKS
        runner = self._runner = self._client.spawn(limits, entry, world_size)
        self._clocks = TaskClocks(runner.main_pid, runner.cpu_time_ns)
        devices = self._devices[:world_size] or (None,) * world_size
        self.ranks = tuple(
            RankRunner(runner, limits, self._modules, self._deadline, number, device)
            for number, device in enumerate(devices)
        )
        """The current runners, in the order of their ranks."""
        self.own_limit_s = self._own_limit_s

    def _stop(self) -> None:
        endings = [rank.abort() for rank in self.ranks]
        self._endings.extend(endings[:1])  # one sandbox, one exit, one pair of streams
        self.ranks = ()

    def _set_up(
        self,
        files: tuple[SourceFile, ...],
        device: str,
        fresh_output: bool,
        outputs: tuple[int, ...] | None,
        meanwhile: Callable[[], None] | None = None,
        *,
        is_first: bool = False,
    ) -> None:
        """Ranks find each other and open their GPUs at the same time."""
        backend = "gloo" if device == "cpu" else "nccl"
        with self._before_the_author(files, is_first=is_first):
            for rank in self.ranks:
                position = RankPosition(rank.number, len(self.ranks), backend, FROM_ENVIRONMENT)
                rank.begin_setup(
                    files, device, fresh_output, outputs, None if self._is_alone else position
                )
        if meanwhile is not None:
            meanwhile()
        with self._before_the_author(files, is_first=is_first):
            self._hear(RankRunner.end_setup)

    @contextlib.contextmanager
    def _before_the_author(
        self, files: tuple[SourceFile, ...], *, is_first: bool
    ) -> Iterator[None]:
        """Within, these runners have run no code of the author's, so what fails isn't theirs; but
        that the time is up may be, unless it is the first time. Raises `SandboxUnavailable`."""
        began_s = time.monotonic()
        try:
            yield
        except AuthorFailure as error:
            why = error.message.replace("The submission", "It", 1)
            if error.verdict is Verdict.TIME_LIMIT:
                if not is_first:
                    raise
                why = f"That took longer than {time.monotonic() - began_s:.1f} s."
            whom = "The runner" if self._is_alone else "The ranks"
            look = " Does this happen each time? Look at the problem's shared files."
            raise SandboxUnavailable(
                f"{whom} couldn't be set up. {why}{look if files else ''}"
            ) from error

    def _load(self, offer: Callable[[RankRunner], None], missing: str) -> None:
        """Have all runners load the kernel at the same time. Raises `AuthorFailure`."""
        self._load_again = partial(self._load, offer, missing)
        for rank in self.ranks:
            offer(rank)
        self.gather(messages.Loaded, "The submission failed while it was imported", missing)

    def _hear(self, heard: Callable[[RankRunner, RunnerReply], T]) -> list[T]:
        """What comes of each runner's next message, which is read as soon as it is there. Raises
        `AuthorFailure`."""
        found: dict[int, T] = {}
        while len(found) < len(self.ranks):
            for rank in self._ready([one for one in self.ranks if one.number not in found]):
                reply = rank.receive()
                with self.naming(rank.number):
                    found[rank.number] = heard(rank, reply)
        return [found[number] for number in sorted(found)]

    def _ready(self, waiting: list[RankRunner]) -> list[RankRunner]:
        """The ranks of several that have sent something or have died. A single rank is waited for
        where its message is read: nothing more is done between the marks of a call."""
        if len(waiting) == 1:
            return waiting
        try:
            ready = wait_for_any([rank.channel for rank in waiting], self._deadline)
        except ChannelError:
            return waiting[:1]
        return [rank for rank in waiting if rank.channel in ready]

    @contextlib.contextmanager
    def _ending_all(self) -> Iterator[None]:
        """Within, the failure of one rank ends all, since others may wait for it for ever; raised
        is that of the rank which ended first, which may be the cause."""
        try:
            yield
        except AuthorFailure as error:
            if self._is_alone:
                raise
            cause = self._death() or error
            self._stop()
            raise cause from error

    def _death(self) -> AuthorFailure | SandboxUnavailable | None:
        """What the end of the ranks means; None if all live."""
        time.sleep(_DYING_S)
        if all(is_alive(pid) for pid in self._runner.rank_pids):
            return None
        ended = self._runner.wait(_LAST_REPORT_S)
        if not ended:
            return None
        return death(ended, limits_of_ranks(self._limits, len(self.ranks)))


def _may_answer_unready(reply: RunnerReply) -> bool:
    """Whether an honest runner says this before the author's code was called: that there is no
    room, or that earlier work on the GPU has failed."""
    if isinstance(reply, RequestRefused):
        return reply.why is RefusalReason.NO_ROOM or reply.gpu_fault != 0
    return isinstance(reply, messages.IsReady)
