"""Where one runner's calls on a GPU find their data, and where the judge takes their output.

Both lie in arenas: memory of the device that the judge owns and the runner maps.

    lay        the runner lays arrays over an input arena, whose content is old
    (reveal)   the judge fills that arena but for some places, flushes the cache, and fills those
    go         the runner calls the kernel; its output is in the output arena
    returned   the judge copies the output arena into memory of its own
    tell       only now the runner describes the output; `forget`: or nobody wants to know

With several ranks, each step is taken with all of them before the next one, see `steps`.

So nothing that is written later is in the output that is checked, and a runner that leaves out the
harness's part of a call only spoils its own output. Of what the runner says only sizes are used
before that copy, and they are bounded.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass, fields

from kernelbot.harness.data.check import check
from kernelbot.harness.data.encode import Encoded
from kernelbot.harness.data.leaves import device_leaf_sizes, has_gaps
from kernelbot.harness.data.shared_memory import SharedBuffer, renewed
from kernelbot.harness.gpu.device_data import DeviceData, DeviceValue
from kernelbot.harness.gpu.judge_device import JudgeDevice
from kernelbot.harness.inside.gpu.arena import Arena, ArenaPiece, cleared
from kernelbot.harness.inside.runner.kernels import GUARD, GUARD_BYTES
from kernelbot.harness.judge.calls.connection import RunnerConnection
from kernelbot.harness.judge.calls.input_arenas import InputArenas
from kernelbot.harness.judge.calls.replies import blaming_author, differ
from kernelbot.harness.words import runner_messages as messages
from kernelbot.harness.words.failures import claimed, expect_room, garbage
from kernelbot.harness.words.runner_messages import NewMemory
from kernelbot.harness.words.windows import OutputLayout, Reply, Window
from kernelbot.protocol import Limits

_FIRST_OUTPUT_BYTES = 1 << 16
_ROOM_PER_ARRAY = 4 * GUARD_BYTES


@dataclass(frozen=True)
class Secured:
    """A call's output in the judge's own memory."""

    window: Window
    piece: ArenaPiece
    device_bytes: int
    host: bytes


class ArenaBuffers:
    """The memory of one runner's calls."""

    returned = messages.ReturnedInArena
    described = messages.ValueDescribed

    def __init__(
        self,
        runner: RunnerConnection,
        device: JudgeDevice,
        limits: Limits,
        modules: frozenset[str],
        *,
        guarded: bool,
    ) -> None:
        """`guarded`: outputs lie between guard bytes, as those of compiled kernels do."""
        self._runner = runner
        self._device = device
        self._limits = limits
        self._modules = modules
        self._guarded = guarded
        self._input: SharedBuffer | None = None
        self._output: SharedBuffer | None = None
        self._inputs = InputArenas(device)
        self._output_arena: Arena | None = None
        self._used_bytes: int | None = None
        self._changed: bool | None = None

    def lay(self, data: Encoded, kernel: str, *, reuse: bool) -> None:
        """Have arrays laid over memory whose content is old; the runner will say `ready`.

        `reuse`: at the addresses of the last call. Raises `DeviceFull`, `GpuError`.
        """
        self._changed = None
        wanted = data.piece.size_bytes if isinstance(data, DeviceData) and data.piece else 0
        arrays = sum(1 for _ in device_leaf_sizes(data.skeleton))
        # Compiled kernels' outputs are among their data; how large Python's are will be seen.
        outputs = wanted + arrays * _ROOM_PER_ARRAY if self._guarded else 0
        room = outputs + _FIRST_OUTPUT_BYTES
        fds = self._provide(data.size_bytes, _FIRST_OUTPUT_BYTES, wanted, room)
        if self._input is not None:
            data.copy_to(self._input)
        if not reuse:
            self._inputs.turn()
        view = self._inputs.view
        self._send(lambda new: messages.Lay(data.skeleton, kernel, view, new), fds)

    def go_at_once(self, _data: Encoded, _kernel: str, _inputs: bool) -> bool:
        """Implements `CallBuffers`: data is written once the runner has laid arrays."""
        return False

    def begin_to_fill(self, data: Encoded, *, cold: bool) -> None:
        """Begin to overwrite the output arena, and if `cold` to fill in the data but for some
        places, and then to flush the device's cache. Raises `GpuError`."""
        device, output = self._device, self._output_arena
        if output is None:
            raise AssertionError("a call was laid")
        used = output.size_bytes if self._used_bytes is None else self._used_bytes
        device.driver.fill(output.address, GUARD, used)
        self._inputs.begin_to_fill(data, cold=cold)
        if cold:
            device.flusher.flush()

    def begin_to_complete(self, data: Encoded) -> None:
        """Begin to fill in what is missing of the data, last of all. Raises `GpuError`."""
        self._inputs.begin_to_complete(data)

    def wait(self) -> None:
        """Wait until what was begun is done. Raises `GpuError`."""
        self._device.driver.wait()

    def go(self) -> None:
        """Have the kernel called; the runner will say `returned`."""
        self._runner.send(messages.Go())

    def begin_to_secure(
        self, reply: messages.ReturnedInArena, max_bytes: int | None = None
    ) -> Secured:
        """Begin to copy the output of a call that has `returned`. Raises `AuthorFailure`, also if
        it has more bytes than `max_bytes`, and `DeviceFull`, `GpuError`."""
        with blaming_author():
            window = claimed(reply, reply.claim_ns, reply.start_ns)
            most = max_bytes if max_bytes is not None else self._limits.memory_bytes
            on_device = max_bytes if max_bytes is not None else self._device.driver.free_bytes()
            host_bytes, device_bytes = reply.size, reply.device_size
            expect_room(reply, host_bytes, most)
            expect_room(reply, device_bytes, on_device)
        if self._output is None or self._output_arena is None:
            raise AssertionError("a call was laid")
        fits = (
            host_bytes <= self._output.size_bytes and device_bytes <= self._output_arena.size_bytes
        )
        if fits is not reply.fits:
            raise garbage(reply)
        if not fits:
            self._grow(host_bytes, device_bytes)
        piece = self._device.pool.piece(device_bytes)
        self._device.driver.copy(piece.address, self._output_arena.address, device_bytes)
        self._used_bytes = max(self._used_bytes or 0, device_bytes)
        return Secured(window, piece, device_bytes, self._output.read(0, host_bytes))

    def forget(self) -> None:
        """The output of a call that has `returned` is of no use."""
        self._runner.send(messages.Forget())

    def ask_for_description(self) -> None:
        """The runner will say what its output is: `described`."""
        self._runner.send(messages.Tell())

    def value(self, secured: Secured, reply: messages.ValueDescribed) -> Reply:
        """What a call came to, by the runner's description. Raises `AuthorFailure`, also if that
        can't be right."""
        skeleton, host, device_bytes = reply.value, secured.host, secured.device_bytes
        with blaming_author():
            parts = check(skeleton, len(host), device_bytes, self._modules)
            places = list(device_leaf_sizes(skeleton))
            guard_bytes = GUARD_BYTES if self._guarded else 0
            if guard_bytes and any(
                start < guard_bytes or start + size + guard_bytes > device_bytes
                for start, size in places
            ):
                raise ValueError("an array without its guard bytes")
        value = DeviceValue(self._device, skeleton, host, secured.piece, guard_bytes, GUARD)
        size_bytes = len(host) + device_bytes
        layout = OutputLayout(len(places), sum(size for _, size in places), len(host))
        gaps = has_gaps(skeleton)
        return Reply(value, secured.window, size_bytes, reply.aliased, parts, (layout,), gaps=gaps)

    def compare_inputs(self, data: Encoded) -> None:
        """Compare the inputs on the device: before the runner describes its output, which leaves
        it time to put them back. Raises `GpuError`."""
        self._changed = self._differs_from(data)

    def inputs_changed(self, data: Encoded) -> bool:
        """Whether the last call left its inputs other than they were, those on the device at the
        time of `compare_inputs`, or now. Raises `AuthorFailure`, `GpuError`."""
        if self._changed:
            return True
        self._runner.send(messages.DescribeInputsInArena())
        if differ(self._runner.receive(), data, self._input):
            return True
        return self._changed is None and self._differs_from(data)

    def close(self) -> None:
        """Give the memory back."""
        for buffer in (self._input, self._output, self._inputs, self._output_arena):
            if buffer is not None:
                buffer.close()

    def _differs_from(self, data: Encoded) -> bool:
        """Whether arrays on the device aren't what was filled in."""
        if not isinstance(data, DeviceData) or data.piece is None:
            return False
        given = self._inputs.current.address
        return not all(
            self._device.content_is(given + start, data.piece.address + start, size)
            for start, size in device_leaf_sizes(data.skeleton)
        )

    def _grow(self, host_bytes: int, device_bytes: int) -> None:
        """Have the output handed over once more, in memory that is large enough."""
        self._used_bytes = None
        fds = self._provide(0, host_bytes, 0, device_bytes)
        self._send(messages.Grow, fds)
        reply = self._runner.receive()
        if not isinstance(reply, messages.Grown):
            raise garbage(reply)

    def _provide(
        self, input_bytes: int, output_bytes: int, input_room: int, output_room: int
    ) -> dict[str, int]:
        """Memory of at least these sizes; descriptors of what is new, by its name."""
        fds: dict[str, int] = {}
        if self._input is None or self._input.size_bytes < input_bytes:
            self._input = renewed(self._input, input_bytes)
            fds["input"] = self._input.fd
        if self._output is None or self._output.size_bytes < output_bytes:
            self._output = renewed(self._output, output_bytes)
            fds["output"] = self._output.fd
        for name, arena in zip(_INPUT_ARENAS, self._inputs.provide(input_room), strict=False):
            fds[name] = arena.export()
        if self._output_arena is None or self._output_arena.size_bytes < output_room:
            self._output_arena = self._renewed_arena(self._output_arena, output_room)
            fds["output_arena"] = self._output_arena.export()
            self._used_bytes = None
        return fds

    def _renewed_arena(self, old: Arena | None, size_bytes: int) -> Arena:
        if old is not None:
            old.close()
        return cleared(self._device.driver, size_bytes)

    def _send(
        self, request: Callable[[NewMemory], messages.RunnerRequest], fds: dict[str, int]
    ) -> None:
        """Send a request with the memory that is new."""
        sizes = {
            **dict.fromkeys(_INPUT_ARENAS, self._inputs.size_bytes),
            "output_arena": self._output_arena.size_bytes if self._output_arena else 0,
        }
        arenas = {name: size for name, size in sizes.items() if name in fds}
        memory = NewMemory("input" in fds, "output" in fds, **arenas)
        try:
            order = [fds[field.name] for field in fields(NewMemory) if field.name in fds]
            self._runner.send(request(memory), order)
        finally:
            for name in arenas:
                os.close(fds[name])


_INPUT_ARENAS = ("input_arena", "second_input_arena")
