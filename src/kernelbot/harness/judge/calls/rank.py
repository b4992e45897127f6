"""The judge's side of one runner: sends data, and reads what came back.

It lives as long as the `Session` that it belongs to has as many. What it says and hears travels
over its `RunnerConnection`.
"""

import contextlib

from kernelbot.harness.data.shared_memory import SharedBuffer
from kernelbot.harness.gpu.judge_device import JudgeDevice
from kernelbot.harness.inside.cage.loader import ProblemBroken
from kernelbot.harness.inside.own_builds import CAP_BYTES
from kernelbot.harness.judge.calls.arena_buffers import ArenaBuffers
from kernelbot.harness.judge.calls.connection import RunnerConnection
from kernelbot.harness.judge.calls.copy_buffers import CopyBuffers
from kernelbot.harness.judge.calls.steps import CallBuffers
from kernelbot.harness.sandbox import Runner
from kernelbot.harness.timing.clocks import TaskClocks
from kernelbot.harness.words import runner_messages as messages
from kernelbot.harness.words.failures import expect_reply, garbage
from kernelbot.harness.words.runner_messages import RankPosition, RunnerReply
from kernelbot.harness.words.sandbox import SandboxUnavailable
from kernelbot.harness.words.windows import Ending, OutputLayout
from kernelbot.protocol import Limits, SourceFile


class RankRunner(RunnerConnection):
    """One runner: the only one of its session, or one of several ranks."""

    def __init__(
        self,
        runner: Runner,
        limits: Limits,
        modules: frozenset[str],
        deadline: float,
        number: int,
        device: JudgeDevice | None = None,
    ) -> None:
        """The one with this number of those in `runner`. `device`: the judge's, if data and outputs
        lie in its memory."""
        super().__init__(runner, limits, deadline, number)
        self.modules = modules
        self.clocks = (
            TaskClocks(runner.rank_pids[number])  # what the kernel adds up is of all together
            if runner.rank_pids
            else TaskClocks(runner.main_pid, runner.cpu_time_ns)
        )
        self._on_gpu = False
        self._is_guarded = False
        self._device = device
        self._buffers: CallBuffers | None = None

    @property
    def buffers(self) -> CallBuffers:
        """The memory of its calls. Only after `end_setup`."""
        if self._buffers is None:
            raise AssertionError("the runner was set up")
        return self._buffers

    def begin_setup(
        self,
        files: tuple[SourceFile, ...],
        device: str,
        fresh_output: bool,
        outputs: tuple[int, ...] | None,
        position: RankPosition | None = None,
    ) -> None:
        """Send what `Session.setup` is given. `position`: where it stands, if there are several."""
        self._on_gpu = device != "cpu"
        self._is_guarded = outputs is not None
        texts, modules = {file.name: file.text for file in files}, tuple(sorted(self.modules))
        self.send(messages.SetUp(texts, modules, device, fresh_output, outputs, position))

    def end_setup(self, reply: RunnerReply) -> None:
        """Hear that the runner is ready. Raises `SandboxUnavailable`, `ProblemBroken`, and
        `AuthorFailure`, though no code of the author's has run yet."""
        if isinstance(reply, messages.NoGpu):  # no code of the author's has run yet
            raise SandboxUnavailable(f"Runners find no GPU: {reply.text[:1000]}")
        if isinstance(reply, messages.SharedFileFailed):
            text = reply.text[:1000]
            raise ProblemBroken(f"A file that the problem shares with runners failed in {text}")
        found = expect_reply(reply, messages.IsSetUp, "The ranks didn't find each other")
        if self._on_gpu and self._device is not None:
            self._device.expect_same_gpu(found.gpu)
            self._buffers = ArenaBuffers(
                self, self._device, self.limits, self.modules, guarded=self._is_guarded
            )
        else:
            device = None if self._on_gpu else "cpu"
            self._buffers = CopyBuffers(self, self.limits, self.modules, device)

    def offer_code(self, submission: SourceFile, name: str, builds: bytes) -> None:
        """Send the author's file; the runner will say what became of its import."""
        request = messages.Load(name, submission.text, len(builds))
        if builds:
            with contextlib.closing(SharedBuffer.create(len(builds))) as packed:
                packed.write(0, builds)
                self.send(request, [packed.fd])
        else:
            self.send(request)

    def offer_library(self, binary: bytes, outputs: tuple[int, ...], *, emulates: bool) -> None:
        """The same with the author's shared object. `emulates`: the processor runs its CUDA
        kernels."""
        with contextlib.closing(SharedBuffer.create(len(binary))) as library:
            library.write(0, binary)
            self.send(messages.LoadLibrary(len(binary), outputs, emulates), [library.fd])

    def builds(self) -> bytes:
        """What the submission has compiled for itself: bytes that only its next runner opens.

        Empty if there is nothing, or more than is carried. Raises `AuthorFailure`.
        """
        self.send(messages.PackBuilds())
        packed = self.receive()
        if not isinstance(packed, messages.Packed) or not 0 < packed.size <= CAP_BYTES:
            return b""
        with contextlib.closing(SharedBuffer.create(packed.size)) as taken:
            self.send(messages.HandOver(), [taken.fd])
            self.receive()
            return taken.read(0, packed.size)

    def mirror(self, layout: OutputLayout, *, in_place: bool) -> None:
        """Have the kernel `mirror` return as much as this: for a control runner."""
        size = layout.device_bytes // max(layout.arrays, 1)
        sizes = (size,) * layout.arrays
        self.send(messages.Mirror(sizes, layout.host_bytes, in_place))
        expect_reply(self.receive(), messages.Mirrored, "The control runner failed")

    def expect_silence(self) -> None:
        """Raises `AuthorFailure` if the runner has answered before it was asked."""
        if self.has_message():
            raise garbage("an answer before the question")

    def abort(self) -> Ending:
        """Extends `RunnerConnection.abort`: the shared memory is given back."""
        ending = super().abort()
        self.clocks.close()
        if self._buffers is not None:
            self._buffers.close()
        return ending
