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
from kernelbot.harness.inside.gpu.timing import Gpu, open_gpu
from kernelbot.harness.inside.marks.marks import Ready, marks
from kernelbot.harness.inside.own_builds import pack, unpack
from kernelbot.harness.inside.profiling.calls import profile, repeat
from kernelbot.harness.inside.ranks.joining import join
from kernelbot.harness.inside.runner.arena_calls import ArenaCalls, Harness
from kernelbot.harness.inside.runner.kernels import (
    CompiledKernel,
    Kernel,
    MissingSymbol,
    OutOfBounds,
    PythonKernel,
    UncalledKernel,
    first_array,
)
from kernelbot.harness.inside.runner.loading import (
    compile_module,
    error_text,
    flush_output,
    import_all,
    run_module,
    write_files,
)
from kernelbot.harness.inside.runner.messages import packed
from kernelbot.harness.inside.runner.probes import OUTPUT_BASE, take

_INBOX_BYTES = 64 << 20


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
        self._gpu: Gpu | None = None
        self._rank = 0
        self._barrier: Callable[[], Any] | None = None
        self._kernels: dict[str, Kernel] = {
            "identity": PythonKernel(first_array),
            "nothing": PythonKernel(lambda _data: None),
            "mark": PythonKernel(_no_kernel),
        }
        self._answers: dict[str, Callable[[dict[str, Any], list[int]], bool]] = {
            "setup": self._setup,
            "load": self._load,
            "load_library": self._load_library,
            "prepare": self._prepare,
            "attach": self._attach,
            "copy": self._copy,
            "profile": self._profile,
            "repeat": self._repeat,
            "inputs": self._inputs,
            "builds": self._builds,
            "finish": self._finish,
        }

    def answer(self) -> bool:
        """Handle one message; False once the judge needs this runner no longer."""
        message, fds = self._channel.receive()
        return self._answers[message["op"]](message, fds)

    def _reply(self, message: dict[str, Any]) -> bool:
        self._channel.send_bytes(packed(message))
        return True

    def _setup(self, message: dict[str, Any], _fds: list[int]) -> bool:
        sys.path.insert(0, self._folder)
        sys.dont_write_bytecode = True
        write_files(self._folder, message["files"])
        if broken := import_all(message["modules"]):
            return self._reply({"op": "broken", "text": broken})
        place = message.get("place")
        if place is not None:  # one rank of several
            self._rank = place["rank"]
            try:
                self._barrier = join(**place)
            except RuntimeError as error:
                return self._raised(error)
        self._modules = frozenset(message["modules"])
        self._fresh_output = message["fresh_output"]
        identity = ""
        if message["device"] != "cpu":
            try:
                self._gpu = open_gpu(self._rank)
            except (GpuError, RuntimeError) as error:
                return self._reply({"op": "no_gpu", "text": str(error)})
            identity = self._offer_arenas(self._gpu)
        if message["outputs"] is not None:
            # Empty calls must cost the same as the author's: the same buffers, the same arguments,
            # and, where the author's are, called from C.
            empty = CompiledKernel(self._marks.no_kernel, message["outputs"])
            mark = UncalledKernel(_no_kernel, message["outputs"])
            self._kernels.update(identity=empty, nothing=empty, mark=mark)
        return self._reply({"op": "ready", "gpu": identity})

    def _offer_arenas(self, gpu: Gpu) -> str:
        """Answer calls in memory of the judge's, if it can be shared; says which GPU it is."""
        if gpu.driver is None:
            return ""
        harness = Harness(
            gpu, gpu.driver, self._modules, self._kernels, self._fresh_output,
            self._reply, self._channel.receive, self._raised, self._barrier,
        )  # fmt: skip
        self._answers.update(ArenaCalls(harness).answers)
        return gpu.driver.identity()

    def _load(self, message: dict[str, Any], fds: list[int]) -> bool:
        if fds:
            builds = SharedBuffer.attach(fds.pop())
            unpack(Path(self._folder), builds.read(0, message["builds"]))
            builds.close()
        path = Path(self._folder, message["name"])
        try:
            code = compile_module(path, message["text"])
        except (SyntaxError, ValueError) as error:
            return self._reply({"op": "not_compiled", "text": error_text(error, self._folder)})
        try:
            kernel = run_module(path, code)
        except BaseException as error:  # noqa: BLE001 (whatever it raises is the author's)
            return self._raised(error)
        flush_output()
        if not callable(kernel):
            return self._reply({"op": "missing"})
        self._kernels["author"] = PythonKernel(kernel)
        return self._reply({"op": "loaded"})

    def _load_library(self, message: dict[str, Any], fds: list[int]) -> bool:
        path = Path(self._folder, "kernel.so")
        library = SharedBuffer.attach(fds.pop())
        path.write_bytes(library.read(0, message["size"]))
        library.close()
        try:
            self._kernels["author"] = CompiledKernel.load(path, message["outputs"])
        except OSError as error:
            return self._reply({"op": "raised", "text": str(error)})
        except MissingSymbol:
            return self._reply({"op": "missing"})
        return self._reply({"op": "loaded"})

    def _prepare(self, message: dict[str, Any], fds: list[int]) -> bool:
        self._result = None
        if message["input"]:
            self._input = replaced(self._input, fds.pop(0))
        if message["output"]:
            self._output = replaced(self._output, fds.pop(0))
        if self._input is None or self._output is None:
            raise ChannelError("a call without buffers")
        recycled = self._arrays if message["reuse"] else []
        try:
            self._data, self._arrays = self._given_data(
                message["data"], self._input, recycled=recycled
            )
        except MemoryError as error:
            return self._reply({"op": "no_room", "text": str(error)})
        if self._fresh_output:
            leaves = self._encode(self._data, of_input=True).leaves
            self._given = [(leaf.address, leaf.address + leaf.size_bytes) for leaf in leaves]
        kernel = self._kernels[message["kernel"]]
        arguments = kernel.arguments(self._data)
        if message["probes"] is not None:
            return self._call(kernel, arguments, message["probes"])
        self._reply({"op": "ready"})
        go, _ = self._channel.receive()
        return self._call(kernel, arguments, go["probes"], cold=go["cold"], timed=True)

    def _attach(self, message: dict[str, Any], fds: list[int]) -> bool:
        """Timed calls on a CPU, usually one: the judge writes their data just before `go`."""
        self._result = None
        if message["input"]:
            self._input = replaced(self._input, fds.pop(0))
        if message["record"]:
            self._record = replaced(self._record, fds.pop(0))
        if self._input is None or self._record is None:
            raise ChannelError("a call without buffers")
        given = [
            self._given_data(data, self._input, base=base, in_place=True)
            for data, base in zip(message["data"], message["bases"], strict=True)
        ]
        self._data, self._arrays = [data for data, _ in given], [arrays for _, arrays in given]
        kernel = self._kernels[message["kernel"]]
        function = None if kernel.function is _no_kernel else kernel.function
        calls = [kernel.for_call() for _ in given]
        rows = [call.arguments(data) for call, data in zip(calls, self._data, strict=True)]
        filled = [call.filled() for call in calls]
        output = None if filled[0] is None else filled
        ready = Ready(self._channel.fileno(), framed(packed({"op": "ready"})))
        try:
            returned = self._marks.call(
                self._record.address, message["turn"], function, rows, output, ready
            )
            outputs = [call.output(one) for call, one in zip(calls, returned, strict=True)]
            result = self._result = encode(outputs, self._modules, stays=self._is_own)
        except OutOfBounds:
            return self._reply({"op": "out_of_bounds"})
        except UnsupportedValue as error:
            flush_output()
            return self._reply({"op": "unsupported", "what": str(error)})
        except BaseException as error:  # noqa: BLE001 (whatever it raises is the author's)
            return self._raised(error)
        body = packed(
            {
                "op": "done",
                "value": result.skeleton,
                "size": result.size_bytes,
                "at": [leaf.address for leaf in result.leaves],
            }
        )
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
        self,
        kernel: Kernel,
        arguments: tuple[Any, ...],
        probes: list[int],
        *,
        cold: bool = False,
        timed: bool = False,
    ) -> bool:
        """Call the kernel and send the output; after a timed call only when the judge asks for it.

        So the judge's clock stops before the output is copied, which may take long.
        """
        try:
            returned, start_ns, claim_ns = self._run(kernel, arguments, cold)
            output = kernel.output(returned)
        except OutOfBounds:
            return self._reply({"op": "out_of_bounds"})
        except BaseException as error:  # noqa: BLE001 (whatever it raises is the author's)
            return self._raised(error)
        try:
            result = self._result = self._encode(output)
            if result.copied and self._gpu is not None:
                claim_ns = self._gpu.until_now_ns()  # putting it together is the author's work
            self._probe(result, probes)
        except UnsupportedValue as error:
            flush_output()
            return self._reply({"op": "unsupported", "what": str(error)})
        except BaseException as error:  # noqa: BLE001 (the author's value may raise anything)
            return self._raised(error)
        if timed:
            self._reply({"op": "returned"})
            self._channel.receive()
        reply = self._hand_over(result)
        reply.update(claim_ns=claim_ns, start_ns=start_ns)
        self._reply(reply)
        if not timed:
            flush_output()
        return True

    def _run(self, kernel: Kernel, arguments: tuple[Any, ...], cold: bool) -> tuple[Any, int, int]:
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

    def _hand_over(self, result: Encoded) -> dict[str, Any]:
        output = self._output
        if output is None:
            raise ChannelError("a call without buffers")
        fits = OUTPUT_BASE + result.size_bytes <= output.size_bytes
        if fits:
            result.copy_to(output, OUTPUT_BASE, self._read)
        return {
            "op": "done",
            "value": result.skeleton,
            "size": result.size_bytes,
            "fits": fits,
            "aliased": overlaps(result, self._given),
        }

    def _profile(self, message: dict[str, Any], fds: list[int]) -> bool:
        given, taken = SharedBuffer.attach(fds[0]), SharedBuffer.attach(fds[1])
        data, _ = self._given_data(message["data"], given)
        kernel = self._kernels["author"]
        try:
            text, trace = profile(kernel.function, kernel.arguments(data))
        except BaseException as error:  # noqa: BLE001 (whatever it raises is the author's)
            return self._raised(error)
        if len(trace) <= taken.size_bytes:
            taken.write(0, trace)
        return self._reply({"op": "profiled", "text": text, "size": len(trace)})

    def _repeat(self, message: dict[str, Any], fds: list[int]) -> bool:
        """Calls in a row on the same data, while the judge counts."""
        data, _ = self._given_data(message["data"], SharedBuffer.attach(fds[0]))
        kernel = self._kernels["author"]
        try:
            arguments = kernel.arguments(data)
            kernel.function(*arguments)
        except BaseException as error:  # noqa: BLE001 (whatever it raises is the author's)
            return self._raised(error)
        self._reply({"op": "ready"})
        self._channel.receive()
        try:
            calls = repeat(kernel.function, arguments)
        except BaseException as error:  # noqa: BLE001 (whatever it raises is the author's)
            return self._raised(error)
        return self._reply({"op": "repeated", "calls": calls})

    def _builds(self, _message: dict[str, Any], _fds: list[int]) -> bool:
        """Send the size of what the submission compiled for itself, and if wanted its content."""
        packed = pack(Path(self._folder))
        self._reply({"op": "builds", "size": len(packed)})
        if packed:
            _, fds = self._channel.receive()
            taken = SharedBuffer.attach(fds.pop())
            taken.write(0, packed)
            taken.close()
            self._reply({"op": "packed"})
        return True

    def _copy(self, _message: dict[str, Any], fds: list[int]) -> bool:
        self._output = replaced(self._output, fds.pop(0))
        if self._result is None:
            raise ChannelError("nothing to copy")
        self._result.copy_to(self._output, OUTPUT_BASE, self._read)
        return self._reply({"op": "copied"})

    def _inputs(self, _message: dict[str, Any], _fds: list[int]) -> bool:
        try:
            now = encode(self._data, self._modules, of_input=True)
            if self._input is None:
                raise ChannelError("a call without buffers")
            now.copy_to(self._input)
        except ValueError:  # UnsupportedValue is one; so is data that grew
            return self._reply({"op": "inputs", "value": "changed"})
        return self._reply({"op": "inputs", "value": now.skeleton})

    def _raised(self, error: BaseException) -> bool:
        flush_output()
        kind = "raised"
        if isinstance(error, MemoryError) or is_device_full(error):
            kind = "memory"
        elif isinstance(error, SystemExit):
            kind = "exit"
        fault = self._gpu.fault() if self._gpu is not None else 0
        text = error_text(error, self._folder)
        return self._reply({"op": kind, "text": text, "gpu_fault": fault})

    def _finish(self, _message: dict[str, Any], _fds: list[int]) -> bool:
        flush_output()
        return self._reply({"op": "bye"})


def _no_kernel(*_arguments: object) -> None:
    """The kernel without any call: one mark follows directly after the other."""
