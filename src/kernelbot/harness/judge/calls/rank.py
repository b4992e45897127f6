"""The judge's side of one runner: sends data, and reads what came back.

It lives as long as the `Session` that it belongs to has as many. What it says and hears travels
over its `RunnerConnection`.
"""

import contextlib
import ctypes

from kernelbot.harness.data.encode import Encoded, has_gaps
from kernelbot.harness.data.shared_memory import SharedBuffer
from kernelbot.harness.gpu.judge_device import JudgeDevice
from kernelbot.harness.inside.cage.loader import ProblemBroken
from kernelbot.harness.inside.own_builds import CAP_BYTES
from kernelbot.harness.inside.runner.probes import OUTPUT_BASE
from kernelbot.harness.judge.calls.arena_buffers import ArenaBuffers, as_json
from kernelbot.harness.judge.calls.connection import RunnerConnection
from kernelbot.harness.judge.calls.replies import count_parts, read_answer, value_shared
from kernelbot.harness.sandbox import Runner
from kernelbot.harness.timing.clocks import TaskClocks
from kernelbot.harness.words import runner_messages as messages
from kernelbot.harness.words.failures import expect_reply, garbage
from kernelbot.harness.words.runner_messages import Place, RunnerReply
from kernelbot.harness.words.sandbox import SandboxUnavailable
from kernelbot.harness.words.windows import Ending, OutputLayout, Reply
from kernelbot.protocol import Limits, SourceFile

_POISON = 0xA5
_FIRST_OUTPUT_BYTES = 1 << 16


class Rank(RunnerConnection):
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
        self._input: SharedBuffer | None = None
        self._output: SharedBuffer | None = None
        self._unsent: set[str] = set()
        self.clocks = (
            TaskClocks(runner.rank_pids[number])  # what the kernel adds up is of all together
            if runner.rank_pids
            else TaskClocks(runner.main_pid, runner.cpu_time_ns)
        )
        self._on_gpu = False
        self._is_guarded = False
        self._device = device
        self._arena: ArenaBuffers | None = None

    @property
    def arena(self) -> ArenaBuffers:
        """The memory of calls on a GPU: only with a device of the judge's, after `end_setup`."""
        if self._arena is None:
            raise AssertionError("a runner with the judge's device was set up")
        return self._arena

    def begin_setup(
        self,
        files: tuple[SourceFile, ...],
        device: str,
        fresh_output: bool,
        outputs: tuple[int, ...] | None,
        place: Place | None = None,
    ) -> None:
        """Send what `Session.setup` is given. `place`: where it stands, if there are several."""
        self._on_gpu = device != "cpu"
        self._is_guarded = outputs is not None
        texts, modules = {file.name: file.text for file in files}, tuple(sorted(self.modules))
        self.send(messages.SetUp(texts, modules, device, fresh_output, outputs, place))

    def end_setup(self, reply: RunnerReply) -> None:
        """Hear that the runner is ready. Raises `SandboxUnavailable`, `ProblemBroken`, and
        `AuthorFailure`, though no code of the author's has run yet."""
        if isinstance(reply, messages.NoGpu):  # no code of the author's has run yet
            raise SandboxUnavailable(f"Runners find no GPU: {reply.text[:1000]}")
        if isinstance(reply, messages.Broken):
            text = reply.text[:1000]
            raise ProblemBroken(f"A file that the problem shares with runners failed in {text}")
        found = expect_reply(reply, messages.IsSetUp, "The ranks didn't find each other")
        if self._on_gpu and self._device is not None:
            self._device.expect_same_gpu(found.gpu)
            self._arena = ArenaBuffers(
                self, self._device, self.limits, self.modules, guarded=self._is_guarded
            )

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

    def offer(
        self,
        data: Encoded,
        kernel: str = "author",
        *,
        reuse: bool = False,
        probes: list[int] | None = None,
    ) -> None:
        """Hand over a call's data. The call follows at once, or without `probes` upon `go`."""
        fds = self._place(data)
        is_new = "input" in self._unsent, "output" in self._unsent
        self.send(messages.Prepare(data.skeleton, kernel, reuse, *is_new, probes), fds)

    def inputs_changed(self, data: Encoded) -> bool:
        """Whether the last call left its inputs other than they were."""
        if self._arena is not None:
            return self._arena.inputs_changed(data)
        self.send(messages.DescribeInputs())
        reply = self.receive()
        if not isinstance(reply, messages.Inputs) or self._input is None:
            return True
        if reply.value != as_json(data.skeleton):
            return True
        for leaf in data.leaves:
            mine = ctypes.string_at(leaf.address, leaf.size_bytes)
            if self._input.read(leaf.offset, leaf.size_bytes) != mine:
                return True
        return False

    def abort(self) -> Ending:
        """Extends `RunnerConnection.abort`: the shared memory is given back."""
        ending = super().abort()
        self.clocks.close()
        for buffer in (self._input, self._output, self._arena):
            if buffer is not None:
                buffer.close()
        return ending

    def _place(self, data: Encoded) -> list[int]:
        """Copy the data in, poison the output; descriptors the runner doesn't have yet."""
        self._unsent = set()
        if self._input is None or self._input.size_bytes < data.size_bytes:
            self._input = _renew(self._input, data.size_bytes)
            self._unsent.add("input")
        data.copy_to(self._input)
        if self._output is None:
            likely = max(data.size_bytes, _FIRST_OUTPUT_BYTES) + OUTPUT_BASE
            self._output = SharedBuffer.create(likely)
            self._unsent.add("output")
        self._output.fill(_POISON, OUTPUT_BASE + data.size_bytes)
        wanted = [("input", self._input), ("output", self._output)]
        return [buffer.fd for name, buffer in wanted if name in self._unsent]

    def outcome(
        self, reply: messages.Done, probes: list[int], max_bytes: int | None = None
    ) -> Reply:
        """What a call's answer comes to. Raises `AuthorFailure`."""
        answer = read_answer(reply, self.limits, max_bytes)
        if not reply.fits:
            self._fetch_again(answer.size_bytes)
        if self._output is None:
            raise AssertionError("a call always has an output buffer")
        device = None if self._on_gpu else "cpu"
        value = value_shared(answer, self._output, probes, self.modules, device)
        parts, gaps = count_parts(answer), has_gaps(answer.skeleton)
        return Reply(value, answer.window, answer.size_bytes, reply.aliased, parts, gaps=gaps)

    def _fetch_again(self, size: int) -> None:
        old_probes = self._output.read(0, OUTPUT_BASE) if self._output else b""
        self._output = _renew(self._output, OUTPUT_BASE + size)
        self._output.write(0, old_probes)
        self.send(messages.Copy(), [self._output.fd])
        reply = self.receive()
        if not isinstance(reply, messages.Copied):
            raise garbage(reply)


def _renew(old: SharedBuffer | None, size_bytes: int) -> SharedBuffer:
    if old is not None:
        old.close()
    return SharedBuffer.create(size_bytes)
