"""The runner: lives in the sandbox for one phase of one submission, calls the author's kernel.

It shares a process with hostile code, so nothing it says is trusted: the judge sends the data
just before each call, measures the time around it with its own clock, and checks the bytes.
"""

import contextlib
import socket
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from kernelbot.harness.data.channel import Channel, ChannelError, framed
from kernelbot.harness.data.decode import decode, is_device_full
from kernelbot.harness.data.encode import Encoded, UnsupportedValue, encode, overlaps
from kernelbot.harness.data.shared_memory import SharedBuffer, replaced
from kernelbot.harness.inside.gpu.driver import GpuError
from kernelbot.harness.inside.gpu.timing import RunnerGpu, open_gpu
from kernelbot.harness.inside.marks.marks import marks
from kernelbot.harness.inside.marks.record import Ready
from kernelbot.harness.inside.own_builds import pack, unpack
from kernelbot.harness.inside.profiling.calls import profile, repeat
from kernelbot.harness.inside.ranks.joining import join
from kernelbot.harness.inside.runner.arena_calls import Answers, ArenaCalls, Harness
from kernelbot.harness.inside.runner.author import load_library, load_module
from kernelbot.harness.inside.runner.kernels import (
    CompiledKernel,
    OutOfBounds,
    PythonKernel,
    TimedKernel,
    UncalledKernel,
    first_array,
)
from kernelbot.harness.inside.runner.loading import (
    error_text,
    flush_output,
    import_all,
    write_files,
)
from kernelbot.harness.inside.runner.probes import OUTPUT_BASE, take
from kernelbot.harness.words import message as codec
from kernelbot.harness.words import runner_messages as messages
from kernelbot.harness.words.runner_messages import (
    RefusalReason,
    RequestRefused,
    RunnerReply,
    RunnerRequest,
)

_INBOX_BYTES = 64 << 20
_MAX_REPLY_BYTES = 2 << 20


def serve(sock: socket.socket) -> None:
    """Answer the judge until it hangs up. The working folder is the author's."""
    runner = _Runner(Channel(sock, _INBOX_BYTES))
    with contextlib.suppress(ChannelError):
        while runner.answer():
            pass
    flush_output()


class _Runner:
    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._clock = time.perf_counter_ns
        self._folder = str(Path.cwd())
        self._modules: frozenset[str] = frozenset()
        self._input: SharedBuffer | None = None
        self._output: SharedBuffer | None = None
        self._record: SharedBuffer | None = None
        self._marks = marks()
        self._data: Any = None
        self._arrays: list[Any] = []
        self._result: Encoded | None = None
        self._fresh_output = False
        self._given: list[tuple[int, int]] = []
        self._gpu: RunnerGpu | None = None
        self._rank = 0
        self._barrier: Callable[[], Any] | None = None
        self._kernels: dict[str, TimedKernel] = {
            "identity": PythonKernel(first_array),
            "nothing": PythonKernel(lambda _data: None),
            "mark": PythonKernel(_no_kernel),
        }
        self._answers: Answers = {
            messages.SetUp: self._setup,
            messages.Load: self._load,
            messages.LoadLibrary: self._load_library,
            messages.Prepare: self._prepare,
            messages.Attach: self._attach,
            messages.Copy: self._copy,
            messages.ProfileCall: self._profile,
            messages.Repeat: self._repeat,
            messages.DescribeInputs: self._inputs,
            messages.PackBuilds: self._builds,
            messages.Finish: self._finish,
        }

    def answer(self) -> bool:
        """Handle one message; False once the judge needs this runner no longer."""
        request, fds = self._receive()
        return self._answers[type(request)](request, fds)

    def _receive(self) -> tuple[RunnerRequest, list[int]]:
        return self._channel.receive(RunnerRequest)

    def _reply(self, reply: RunnerReply) -> bool:
        self._channel.send_bytes(_packed(reply))
        return True

    def _setup(self, request: messages.SetUp, _fds: list[int]) -> bool:
        sys.path.insert(0, self._folder)
        sys.dont_write_bytecode = True
        write_files(self._folder, request.files)
        if broken := import_all(request.modules):
            return self._reply(messages.SharedFileFailed(broken))
        if request.position is not None:  # one rank of several
            self._rank = request.position.rank
            try:
                self._barrier = join(request.position)
            except RuntimeError as error:
                return self._raised(error)
        self._modules = frozenset(request.modules)
        self._fresh_output = request.fresh_output
        identity = ""
        if request.device != "cpu":
            try:
                self._gpu = open_gpu(self._rank)
            except (GpuError, RuntimeError) as error:
                return self._reply(messages.NoGpu(str(error)))
            identity = self._offer_arenas(self._gpu)
        if request.outputs is not None:
            # Empty calls must cost the same as the author's: the same buffers, the same arguments,
            # and, where the author's are, called from C.
            empty = CompiledKernel(self._marks.no_kernel, request.outputs)
            mark = UncalledKernel(_no_kernel, request.outputs)
            self._kernels.update(identity=empty, nothing=empty, mark=mark)
        return self._reply(messages.IsSetUp(identity))

    def _offer_arenas(self, gpu: RunnerGpu) -> str:
        """Answer calls in memory of the judge's, if it can be shared; says which GPU it is."""
        if gpu.driver is None:
            return ""
        harness = Harness(
            gpu, gpu.driver, self._modules, self._kernels, self._fresh_output,
            self._reply, self._receive, self._raised, self._barrier,
        )  # fmt: skip
        self._answers.update(ArenaCalls(harness).answers)
        return gpu.driver.identity()

    def _load(self, request: messages.Load, fds: list[int]) -> bool:
        if fds:
            builds = SharedBuffer.attach(fds.pop())
            unpack(Path(self._folder), builds.read(0, request.builds))
            builds.close()
        try:
            kernel = load_module(request, self._folder)
        except BaseException as error:  # noqa: BLE001 (whatever it raises is the author's)
            return self._raised(error)
        return self._loaded(kernel)

    def _load_library(self, request: messages.LoadLibrary, fds: list[int]) -> bool:
        return self._loaded(load_library(request, SharedBuffer.attach(fds.pop()), self._folder))

    def _loaded(self, kernel: TimedKernel | RequestRefused) -> bool:
        if isinstance(kernel, RequestRefused):
            return self._reply(kernel)
        self._kernels["author"] = kernel
        return self._reply(messages.Loaded())

    def _prepare(self, request: messages.Prepare, fds: list[int]) -> bool:
        self._result = None
        if request.input:
            self._input = replaced(self._input, fds.pop(0))
        if request.output:
            self._output = replaced(self._output, fds.pop(0))
        if self._input is None or self._output is None:
            raise ChannelError("a call without buffers")
        recycled = self._arrays if request.reuse else []
        try:
            self._data, self._arrays = self._given_data(
                request.data, self._input, recycled=recycled
            )
        except MemoryError as error:
            return self._reply(RequestRefused(RefusalReason.NO_ROOM, str(error)))
        if self._fresh_output:
            leaves = self._encode(self._data, of_input=True).leaves
            self._given = [(leaf.address, leaf.address + leaf.size_bytes) for leaf in leaves]
        kernel = self._kernels[request.kernel]
        arguments = kernel.arguments(self._data)
        if request.probes is not None:
            return self._call(kernel, arguments, request.probes, cold=False)
        self._reply(messages.IsReady())
        go, _ = self._receive()
        if not isinstance(go, messages.GoAndCopy):
            raise ChannelError("a call without probes")
        return self._call(kernel, arguments, go.probes, cold=go.cold)

    def _attach(self, request: messages.Attach, fds: list[int]) -> bool:
        """Timed calls on a CPU, usually one: the judge writes their data just before `go`."""
        self._result = None
        if request.input:
            self._input = replaced(self._input, fds.pop(0))
        if request.record:
            self._record = replaced(self._record, fds.pop(0))
        if self._input is None or self._record is None:
            raise ChannelError("a call without buffers")
        given = [
            self._given_data(data, self._input, base=base, in_place=True)
            for data, base in zip(request.data, request.bases, strict=True)
        ]
        self._data, self._arrays = [data for data, _ in given], [arrays for _, arrays in given]
        kernel = self._kernels[request.kernel]
        function = None if kernel.function is _no_kernel else kernel.function
        calls = [kernel.for_call() for _ in given]
        rows = [call.arguments(data) for call, data in zip(calls, self._data, strict=True)]
        filled = [call.filled() for call in calls]
        output = None if filled[0] is None else filled
        ready = Ready(self._channel.fileno(), framed(codec.encode(messages.IsReady())))
        try:
            returned = self._marks.call(
                self._record.address, request.turn, function, rows, output, ready
            )
            outputs = [call.output(one) for call, one in zip(calls, returned, strict=True)]
            result = self._result = encode(outputs, self._modules, stays=self._is_own)
        except OutOfBounds:
            return self._reply(RequestRefused(RefusalReason.OUT_OF_BOUNDS))
        except UnsupportedValue as error:
            flush_output()
            return self._reply(RequestRefused(RefusalReason.UNSUPPORTED, str(error)))
        except BaseException as error:  # noqa: BLE001 (whatever it raises is the author's)
            return self._raised(error)
        addresses = [leaf.address for leaf in result.leaves]
        body = _packed(messages.DoneInPlace(result.skeleton, result.size_bytes, addresses))
        # Freed now, or it would be work before the next call: it may have 100,000 parts.
        result = self._result = replace(result, skeleton=None)
        self._channel.send_bytes(body)
        return True

    def _is_own(self, start: int, end: int) -> bool:
        """Whether nothing of a stretch of memory is the inputs': copying what an input contains
        into another layout may be the work."""
        given = self._input
        return given is None or end <= given.address or given.address + given.size_bytes <= start

    def _call(
        self, kernel: TimedKernel, arguments: tuple[Any, ...], probes: list[int], *, cold: bool
    ) -> bool:
        """Call the kernel, and send the output only when the judge asks for it: its clock stops
        before the output is copied, which may take long."""
        try:
            returned, start_ns, claim_ns = self._run(kernel, arguments, cold)
            output = kernel.output(returned)
        except OutOfBounds:
            return self._reply(RequestRefused(RefusalReason.OUT_OF_BOUNDS))
        except BaseException as error:  # noqa: BLE001 (whatever it raises is the author's)
            return self._raised(error)
        try:
            result = self._result = self._encode(output)
            if result.copied and self._gpu is not None:
                claim_ns = self._gpu.until_now_ns()  # putting it together is the author's work
            self._probe(result, probes)
        except UnsupportedValue as error:
            flush_output()
            return self._reply(RequestRefused(RefusalReason.UNSUPPORTED, str(error)))
        except BaseException as error:  # noqa: BLE001 (the author's value may raise anything)
            return self._raised(error)
        self._reply(messages.Returned())
        take, _ = self._receive()
        done = self._hand_over(result, claim_ns, start_ns)
        if isinstance(take, messages.Take) and take.inputs:
            done = replace(done, inputs=self._inputs_now())
        self._reply(done)
        flush_output()
        return True

    def _run(
        self, kernel: TimedKernel, arguments: tuple[Any, ...], cold: bool
    ) -> tuple[Any, int, int]:
        """The kernel's return value, when it began, and how long it took in ns, including its work
        on a GPU."""
        clock, function = self._clock, kernel.function
        if self._gpu is not None:
            gpu, barrier = self._gpu, self._barrier
            returned, took_ns = gpu.timed(function, arguments, cold=cold, barrier=barrier)
            return returned, gpu.begun_ns, took_ns
        start = clock()
        returned = function(*arguments)
        return returned, start, clock() - start

    def _given_data(
        self, skeleton: Any, buffer: SharedBuffer, **options: Any
    ) -> tuple[Any, list[object]]:
        return decode(skeleton, buffer, self._modules, of_input=True, **options)

    def _encode(self, value: Any, of_input: bool = False) -> Encoded:
        return encode(value, self._modules, of_input, stay_on_gpu=self._gpu is not None)

    def _read(self, target: int, source: int, size_bytes: int) -> None:
        if self._gpu is None:
            raise AssertionError("without a GPU nothing is encoded in its memory")
        self._gpu.read(target, source, size_bytes)

    def _probe(self, result: Encoded, probes: list[int]) -> None:
        if self._output is None:
            raise ChannelError("a call without buffers")
        take(self._output, result, probes, self._read)

    def _hand_over(self, result: Encoded, claim_ns: int, start_ns: int) -> messages.Done:
        output = self._output
        if output is None:
            raise ChannelError("a call without buffers")
        fits = OUTPUT_BASE + result.size_bytes <= output.size_bytes
        if fits:
            result.copy_to(output, OUTPUT_BASE, self._read)
        aliased = overlaps(result, self._given)
        return messages.Done(result.skeleton, result.size_bytes, fits, aliased, claim_ns, start_ns)

    def _profile(self, request: messages.ProfileCall, fds: list[int]) -> bool:
        given, taken = SharedBuffer.attach(fds[0]), SharedBuffer.attach(fds[1])
        data, _ = self._given_data(request.data, given)
        kernel = self._kernels["author"]
        try:
            text, trace = profile(kernel.function, kernel.arguments(data))
        except BaseException as error:  # noqa: BLE001 (whatever it raises is the author's)
            return self._raised(error)
        if len(trace) <= taken.size_bytes:
            taken.write(0, trace)
        return self._reply(messages.Profiled(text, len(trace)))

    def _repeat(self, request: messages.Repeat, fds: list[int]) -> bool:
        """Calls in a row on the same data, while the judge counts."""
        data, _ = self._given_data(request.data, SharedBuffer.attach(fds[0]))
        kernel = self._kernels["author"]
        try:
            arguments = kernel.arguments(data)
            kernel.function(*arguments)
        except BaseException as error:  # noqa: BLE001 (whatever it raises is the author's)
            return self._raised(error)
        self._reply(messages.IsReady())
        self._receive()
        try:
            calls = repeat(kernel.function, arguments)
        except BaseException as error:  # noqa: BLE001 (whatever it raises is the author's)
            return self._raised(error)
        return self._reply(messages.Repeated(calls))

    def _builds(self, _request: messages.PackBuilds, _fds: list[int]) -> bool:
        """Send the size of what the submission compiled for itself, and if wanted its content."""
        packed = pack(Path(self._folder))
        self._reply(messages.Packed(len(packed)))
        if packed:
            _, fds = self._receive()
            taken = SharedBuffer.attach(fds.pop())
            taken.write(0, packed)
            taken.close()
            self._reply(messages.HandedOver())
        return True

    def _copy(self, _request: messages.Copy, fds: list[int]) -> bool:
        self._output = replaced(self._output, fds.pop(0))
        if self._result is None:
            raise ChannelError("nothing to copy")
        self._result.copy_to(self._output, OUTPUT_BASE, self._read)
        return self._reply(messages.Copied())

    def _inputs(self, _request: messages.DescribeInputs, _fds: list[int]) -> bool:
        return self._reply(messages.InputsDescribed(self._inputs_now()))

    def _inputs_now(self) -> Any:
        """The skeleton of the inputs as they are, with their bytes in the input's buffer."""
        try:
            now = encode(self._data, self._modules, of_input=True)
            if self._input is None:
                raise ChannelError("a call without buffers")
            now.copy_to(self._input)
        except ValueError:  # UnsupportedValue is one; so is data that grew
            return messages.CHANGED
        return now.skeleton

    def _raised(self, error: BaseException) -> bool:
        flush_output()
        why = RefusalReason.RAISED
        if isinstance(error, MemoryError) or is_device_full(error):
            why = RefusalReason.MEMORY
        elif isinstance(error, SystemExit):
            why = RefusalReason.EXIT
        fault = self._gpu.fault() if self._gpu is not None else 0
        return self._reply(RequestRefused(why, error_text(error, self._folder), fault))

    def _finish(self, _request: messages.Finish, _fds: list[int]) -> bool:
        flush_output()
        return self._reply(messages.Bye())


def _packed(reply: RunnerReply) -> bytes:
    """A reply as JSON; of one that is too long, that its value isn't supported."""
    body = codec.encode(reply)
    if len(body) <= _MAX_REPLY_BYTES:
        return body
    return codec.encode(RequestRefused(RefusalReason.UNSUPPORTED, "a value with too many parts"))


def _no_kernel(*_arguments: object) -> None:
    """The kernel without any call: one mark follows directly after the other."""
