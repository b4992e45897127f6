"""The judge's side of one runner: sends data, takes the time, and reads what came back.

A session is one runner's life: one phase of one submission. What it says and hears travels over
its `Line`.
"""

import contextlib
import ctypes
import time
from dataclasses import replace
from typing import Any

from kernelbot.harness.builds import CAP_BYTES
from kernelbot.harness.clocks import CacheFlusher, TaskClocks, own_delay_ns
from kernelbot.harness.failure import (
    NO_KERNEL,
    AuthorFailure,
    claimed,
    garbage,
    no_value,
    output_size,
    refuse,
)
from kernelbot.harness.line import Line
from kernelbot.harness.memory import SharedBuffer
from kernelbot.harness.probes import OUTPUT_BASE, choose, count_changed
from kernelbot.harness.profiling.request import ProfileRequest
from kernelbot.harness.rebuild import InvalidValue, decode
from kernelbot.harness.sandbox import Runner, RunnerClient, SandboxUnavailable
from kernelbot.harness.values import Encoded, Json, leaf_sizes
from kernelbot.harness.windows import Ending, Reply
from kernelbot.protocol import Limits, SourceFile, Verdict

_POISON = 0xA5
_FIRST_OUTPUT_BYTES = 1 << 20


class Session(Line):
    """Drives one runner."""

    def __init__(
        self,
        runner: Runner,
        limits: Limits,
        modules: frozenset[str],
        deadline: float,
        rank: int | None = None,
    ) -> None:
        """Take over `runner`, or of several ranks in it the one named."""
        super().__init__(runner, limits, deadline, rank)
        self.modules = modules
        self._input: SharedBuffer | None = None
        self._output: SharedBuffer | None = None
        self._unsent: set[str] = set()
        self._rank = rank
        self._clocks: TaskClocks | None = None
        self._on_gpu = False

    @classmethod
    def start(
        cls, client: RunnerClient, limits: Limits, modules: frozenset[str], deadline: float
    ) -> "Session":
        """A session with a fresh runner. Raises `SandboxUnavailable`."""
        return cls(client.spawn(limits), limits, modules, deadline)

    @property
    def clocks(self) -> TaskClocks:
        """The kernel's clocks of this runner."""
        if self._clocks is None:
            runner = self._runner
            if self._rank is None:
                self._clocks = TaskClocks(runner.main_pid, runner.cpu_time_ns)
            else:  # what the kernel adds up is of all ranks together
                self._clocks = TaskClocks(runner.rank_pids[self._rank])
        return self._clocks

    def setup(
        self,
        files: tuple[SourceFile, ...],
        device: str,
        fresh_output: bool,
        outputs: tuple[int, ...] | None,
    ) -> None:
        """Give the runner the problem's shared files, before any code of the author's.

        `outputs`: of a compiled problem, which leaves are outputs; None for Python.
        """
        self._on_gpu = device != "cpu"
        self.send(
            {
                "op": "setup",
                "files": {file.name: file.text for file in files},
                "modules": sorted(self.modules),
                "device": device,
                "fresh_output": fresh_output,
                "outputs": None if outputs is None else list(outputs),
            }
        )
        reply = self.receive()
        if reply["op"] == "no_gpu":  # no code of the author's has run yet
            raise SandboxUnavailable(f"Runners find no GPU: {str(reply.get('text'))[:1000]}")

    def load(self, submission: SourceFile, name: str, builds: bytes = b"") -> None:
        """Import the author's file, beside what `builds` found. Raises `AuthorFailure`."""
        self.offer_code(submission, name, builds)
        self._loaded(self.receive(), NO_KERNEL)

    def offer_code(self, submission: SourceFile, name: str, builds: bytes) -> None:
        """Send the author's file; the runner will say what became of its import."""
        message = {"op": "load", "name": name, "text": submission.text, "builds": len(builds)}
        if builds:
            with contextlib.closing(SharedBuffer.create(len(builds))) as packed:
                packed.write(0, builds)
                self.send(message, [packed.fd])
        else:
            self.send(message)

    def load_library(self, binary: bytes, outputs: tuple[int, ...]) -> None:
        """Load the author's shared object. Raises `AuthorFailure`."""
        library = SharedBuffer.create(len(binary))
        library.write(0, binary)
        message = {"op": "load_library", "size": len(binary), "outputs": list(outputs)}
        self.send(message, [library.fd])
        library.close()
        self._loaded(
            self.receive(),
            'The submission exports no function extern "C" void custom_kernel(...).',
        )

    def builds(self) -> bytes:
        """What the submission has compiled for itself: bytes that only its next runner opens.

        Empty where there is nothing, or more than is carried. Raises `AuthorFailure`.
        """
        self.send({"op": "builds"})
        size = self.receive().get("size")
        if type(size) is not int or not 0 < size <= CAP_BYTES:
            return b""
        with contextlib.closing(SharedBuffer.create(size)) as taken:
            self.send({"op": "hand over"}, [taken.fd])
            self.receive()
            return taken.read(0, size)

    def _loaded(self, reply: dict[str, Any], missing: str) -> None:
        refuse(reply, "The submission failed while it was imported")
        if reply["op"] == "missing":
            raise AuthorFailure(Verdict.RUNTIME_ERROR, missing)
        if reply["op"] != "loaded":
            raise garbage(reply)

    def call(self, data: Encoded) -> Reply:
        """One untimed call: no flush, no handshake."""
        probes = choose()
        self.offer(data, probes=probes)
        return self.outcome(self.receive(), probes)

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
        message = {
            "op": "prepare",
            "data": data.skeleton,
            "reuse": reuse,
            "kernel": kernel,
            "input": "input" in self._unsent,
            "output": "output" in self._unsent,
            "probes": probes,
        }
        self.send(message, fds)

    def timed_call(
        self, data: Encoded, flusher: CacheFlusher | None, reuse: bool, kernel: str = "author"
    ) -> Reply:
        """One call between the judge's clocks, with cold caches where there is a `flusher`.

        The processor's are flushed here, a GPU's by the runner, at the last moment.
        """
        probes = choose()
        idle = self.clocks.tree_cpu_ns()
        self.offer(data, kernel, reuse=reuse)
        ready = self.receive()
        if ready["op"] != "ready":
            raise garbage(ready)
        built = self.clocks.tree_cpu_ns()
        if flusher is not None and not self._on_gpu:
            flusher.flush(self.clocks.last_cpu())
        before = self.clocks.main_thread() or (0, 0)
        rested = self.clocks.tree_cpu_ns()
        start = time.perf_counter_ns()
        delayed = own_delay_ns()
        self.send({"op": "go", "probes": probes, "cold": flusher is not None})
        returned = self.receive()
        bracket_ns = time.perf_counter_ns() - start
        delayed = own_delay_ns() - delayed
        after = self.clocks.main_thread() or (0, 0)
        computed = self.clocks.tree_cpu_ns() - rested
        if returned["op"] == "returned":
            self.send({"op": "take"})
            returned = self.receive()
        reply = self.outcome(returned, probes)
        window = replace(
            reply.window,
            bracket_ns=bracket_ns,
            build_cpu_ns=built - idle,
            still_cpu_ns=rested - built,
            call_cpu_ns=after[0] - before[0],
            call_tree_cpu_ns=computed,
            processors=self.clocks.processors(),
            waiting_ns=after[1] - before[1] + delayed,
        )
        return replace(reply, window=window)

    def profile(self, data: Encoded) -> tuple[str, bytes]:
        """A table and a gzipped trace (maybe empty) as the runner took them: the author's word."""
        with contextlib.closing(ProfileRequest(self.send, data)) as request:
            return request.answer(self.receive())

    def inputs_changed(self, data: Encoded) -> bool:
        """Whether the last call left its inputs other than they were."""
        self.send({"op": "inputs"})
        reply = self.receive()
        if reply.get("value") != _as_json(data.skeleton) or self._input is None:
            return True
        for leaf in data.leaves:
            mine = ctypes.string_at(leaf.address, leaf.size_bytes)
            if self._input.read(leaf.offset, leaf.size_bytes) != mine:
                return True
        return False

    def abort(self) -> Ending:
        """As `Line.abort`, and the shared memory is given back."""
        ending = super().abort()
        for buffer in (self._input, self._output):
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

    def outcome(self, reply: dict[str, Any], probes: list[int]) -> Reply:
        """What a call's answer comes to. Raises `AuthorFailure`."""
        size = output_size(reply, self.limits)
        if not reply.get("fits"):
            self._fetch_again(size)
        value = self._rebuild(reply.get("value"), probes)
        parts = sum(1 for _ in leaf_sizes(reply.get("value")))
        return Reply(value, claimed(reply), size, bool(reply.get("aliased")), parts)

    def _fetch_again(self, size: int) -> None:
        old_probes = self._output.read(0, OUTPUT_BASE) if self._output else b""
        self._output = _renew(self._output, OUTPUT_BASE + size)
        self._output.write(0, old_probes)
        self.send({"op": "copy"}, [self._output.fd])
        if self.receive()["op"] != "copied":
            raise garbage({"op": "copy"})

    def _rebuild(self, skeleton: Json, probes: list[int]) -> Any:
        if self._output is None:
            raise AssertionError("a call always has an output buffer")
        try:
            device = None if self._on_gpu else "cpu"
            value, _ = decode(skeleton, self._output, self.modules, base=OUTPUT_BASE, device=device)
        except InvalidValue as error:
            raise no_value(error) from error
        if changed := count_changed(self._output, skeleton, probes):
            raise AuthorFailure(
                Verdict.RULE_VIOLATION,
                "The output changed after custom_kernel had returned.",
                f"{changed} probes differ from the copy taken after them",
            )
        return value


def _renew(old: SharedBuffer | None, size_bytes: int) -> SharedBuffer:
    if old is not None:
        old.close()
    return SharedBuffer.create(size_bytes)


def _as_json(skeleton: Json) -> Json:
    """A skeleton as the other side reads it: tuples become lists."""
    if isinstance(skeleton, tuple | list):
        return [_as_json(item) for item in skeleton]
    if isinstance(skeleton, dict):
        return {key: _as_json(item) for key, item in skeleton.items()}
    return skeleton
