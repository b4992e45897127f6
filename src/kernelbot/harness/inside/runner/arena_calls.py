"""In a runner with a GPU: calls whose data and outputs lie in memory of the judge's.

The judge completes the data in an input arena last, and reads the output arena as soon as it is
told that the call has returned; whatever this side says of either is only a claim.
"""

import ctypes
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from kernelbot.harness.data.channel import ChannelError
from kernelbot.harness.data.decode import decode, is_out_of_memory
from kernelbot.harness.data.device_view import View, device_bytes
from kernelbot.harness.data.encode import Encoded, Leaf, UnsupportedValue, encode, overlaps
from kernelbot.harness.data.shared_memory import SharedBuffer, replaced
from kernelbot.harness.inside.gpu.arena import Allocator, Arena
from kernelbot.harness.inside.gpu.driver import Driver, GpuError
from kernelbot.harness.inside.gpu.timing import Barrier, RunnerGpu, reset_persisting_lines
from kernelbot.harness.inside.runner.kernels import CompiledKernel, OutOfBounds, TimedKernel
from kernelbot.harness.words import runner_messages as messages
from kernelbot.harness.words.runner_messages import (
    NewMemory,
    RefusalReason,
    RequestRefused,
    RunnerReply,
    RunnerRequest,
)

Answers = dict[type[RunnerRequest], Callable[[Any, list[int]], bool]]
"""What is done for each kind of request, with the descriptors that come along; whether the runner
is needed longer."""
_VIEWS = 2
"""Data lies at one of two addresses: in one of two arenas, or in the only one, mapped twice."""


@dataclass(frozen=True)
class Harness:
    """What a call needs of the runner."""

    gpu: RunnerGpu
    driver: Driver
    modules: frozenset[str]
    kernels: dict[str, TimedKernel]
    fresh_output: bool
    reply: Callable[[RunnerReply], bool]
    receive: Callable[[], tuple[RunnerRequest, list[int]]]
    raised: Callable[[BaseException], bool]
    barrier: Barrier = None
    """The barrier of all ranks, if there are several."""


class _OutputAllocator(Allocator):
    """Outputs that lie in the output arena already stay there; others are to be copied."""

    def __init__(self, arena: Arena, reserved: int) -> None:
        super().__init__(reserved)
        self._arena = arena
        self._reserved = reserved

    def __call__(self, address: int, size_bytes: int) -> int:
        offset = self._arena.offset_of(address, size_bytes)
        if offset is not None and offset + size_bytes <= self._reserved:
            return offset
        return super().__call__(address, size_bytes)


class _Mirror:
    """A kernel that returns as much as the author's: the control runner's."""

    def __init__(self, harness: Harness, sizes: list[int], host_bytes: int, in_place: bool) -> None:
        driver = harness.driver
        self.function = harness.gpu.nothing or _nothing
        self._address = driver.allocate(max([*sizes, 1])) if sizes and not in_place else 0
        self._host = ctypes.create_string_buffer(host_bytes) if host_bytes else None
        self._host_bytes = host_bytes
        self._sizes = sizes
        self._in_place = in_place
        self._arrays: list[Any] = []

    def result(self, placer: Allocator) -> Encoded:
        """What is to be handed over: nothing that is in place already."""
        sizes = [] if self._in_place else self._sizes
        leaves = [
            Leaf(self._address, size, placer(self._address, size), None, True, in_arena=True)
            for size in sizes
        ]
        if self._host is not None:
            leaves.append(Leaf(ctypes.addressof(self._host), self._host_bytes, 0, self._host))
        return Encoded(None, tuple(leaves), self._host_bytes)

    def for_call(self) -> "_Mirror":
        """The same object: it stores nothing about a call."""
        return self

    def arguments(self, data: Any) -> tuple[Any, ...]:
        """None. The first call makes ready what is described after each: where the data has an
        array on the GPU, for outputs of such arrays alone."""
        like = _first_on_gpu(data)
        if like is not None and not self._arrays and self._host is None:
            address = self._address or like.data_ptr()
            sizes = [size for size in self._sizes if self._address or size <= like.nbytes]
            self._arrays = [
                device_bytes(sys.modules["torch"], View(address, size, like), str(like.device))
                for size in sizes
            ]
        return ()

    def described(self, result: Encoded, modules: frozenset[str]) -> Any:
        """A description of the output, for which the runner does as much as for the author's: None
        for one that is in place already, or needn't be described once the call is over."""
        places = iter(leaf.offset for leaf in result.leaves)
        skeleton = encode(
            self._arrays, modules, place=lambda _address, _size: next(places, 0)
        ).skeleton
        return skeleton if self._arrays and result.leaves else None

    def filled(self) -> Any:
        """None."""
        return None

    def output(self, returned: Any) -> Any:
        """Implements `result`."""
        return returned


def _nothing() -> None:
    """Nothing that a GPU would do."""


class ArenaCalls:
    """Answers the judge's messages about calls in arenas."""

    def __init__(self, harness: Harness) -> None:
        self._harness = harness
        self._input: SharedBuffer | None = None
        self._output: SharedBuffer | None = None
        self._input_views: tuple[View, ...] = ()
        self._output_arena: Arena | None = None
        self._data: Any = None
        self._view = 0
        self._given: list[tuple[int, int]] = []
        self.answers: Answers = {
            messages.Lay: self._lay,
            messages.Mirror: self._mirror,
            messages.DescribeInputsInArena: self._describe_inputs,
        }

    def _attach(self, memory: NewMemory, fds: list[int]) -> None:
        """Take over the memory that came with a request."""
        driver = self._harness.driver
        if memory.input:
            self._input = replaced(self._input, fds.pop(0))
        if memory.output:
            self._output = replaced(self._output, fds.pop(0))
        if size := memory.input_arena:
            self._input_views = ()  # else the old memory isn't free for the new one
            count = 2 if memory.second_input_arena else 1
            given, fds[:count] = fds[:count], []
            arenas = [Arena.attach(driver, fd, size, _VIEWS // count) for fd in given]
            self._input_views = tuple(
                View(address, size, arena) for arena in arenas for address in arena.addresses
            )
        if memory.output_arena:
            self._output_arena = Arena.attach(driver, fds.pop(0), memory.output_arena)

    def _lay(self, request: messages.Lay, fds: list[int]) -> bool:
        """Lay a call's arrays over memory whose content is old; upon `go`, call."""
        harness = self._harness
        kernel = harness.kernels[request.kernel]
        try:
            self._attach(request.memory, fds)
            arguments, reserved = self._prepare(kernel, request)
            reset_persisting_lines(harness.driver)
        except (MemoryError, RuntimeError) as error:
            if isinstance(error, GpuError) and harness.gpu.fault():
                return harness.raised(error)  # earlier work has failed: there may be room
            if not isinstance(error, GpuError) and not is_out_of_memory(error):
                raise
            return harness.reply(RequestRefused(RefusalReason.NO_ROOM, str(error)[:1000]))
        harness.reply(messages.IsReady())
        harness.receive()
        return self._call(kernel, arguments, reserved)

    def _prepare(self, kernel: TimedKernel, request: messages.Lay) -> tuple[tuple[Any, ...], int]:
        """The arguments, and how much of the output arena they use."""
        if self._input is None or not self._input_views or self._output_arena is None:
            raise ChannelError("a call without memory")
        self._view = request.view
        given = self._input_views[self._view]
        self._data, _ = decode(
            request.data, self._input, self._harness.modules, arena=given, of_input=True
        )
        if self._harness.fresh_output:
            leaves = encode(
                self._data, self._harness.modules, of_input=True, place=Allocator()
            ).leaves
            self._given = [(leaf.address, leaf.address + leaf.size_bytes) for leaf in leaves]
        placer = Allocator()
        if isinstance(kernel, CompiledKernel):
            kernel.room = partial(_room, self._output_arena, placer)
        return kernel.arguments(self._data), placer.end

    def _call(self, kernel: TimedKernel, arguments: tuple[Any, ...], reserved: int) -> bool:
        """Call, hand the output over, and only then describe it: that is no part of the time.

        An output that isn't made of plain arrays on the GPU must be described to be handed over.
        """
        harness = self._harness
        if self._output_arena is None:
            raise ChannelError("a call without memory")
        try:
            returned, claim_ns = harness.gpu.timed(
                kernel.function, arguments, cold=False, barrier=harness.barrier
            )
            start_ns = harness.gpu.begun_ns
            placer = _OutputAllocator(self._output_arena, reserved)
            output = kernel.output(returned)
            plain = _plain(output, placer)
            is_described = plain is None
            if isinstance(kernel, _Mirror):
                output, result = kernel, kernel.result(placer)
            elif plain is not None:
                result = plain
            else:
                placer = _OutputAllocator(self._output_arena, reserved)
                result = encode(output, harness.modules, place=placer)
            if result.copied:
                claim_ns = harness.gpu.until_now_ns()  # putting it together is the author's work
            fits = self._deliver(result, placer.end)
        except OutOfBounds:
            return harness.reply(RequestRefused(RefusalReason.OUT_OF_BOUNDS))
        except UnsupportedValue as error:
            return harness.reply(RequestRefused(RefusalReason.UNSUPPORTED, str(error)))
        except BaseException as error:  # noqa: BLE001 (whatever it raises is the author's)
            return harness.raised(error)
        harness.reply(
            messages.ReturnedInArena(result.size_bytes, placer.end, fits, claim_ns, start_ns)
        )
        request, fds = harness.receive()
        if isinstance(request, messages.Grow):
            self._attach(request.memory, fds)
            self._deliver(result, placer.end)
            harness.reply(messages.Grown())
            request, _ = harness.receive()
        if isinstance(request, messages.Forget):
            return True
        return self._describe(output, result, is_described=is_described)

    def _describe(self, output: Any, result: Encoded, *, is_described: bool) -> bool:
        skeleton = result.skeleton
        if isinstance(output, _Mirror):
            skeleton = output.described(result, self._harness.modules)
        elif not is_described:
            places = iter(leaf.offset for leaf in result.leaves)
            try:
                skeleton = encode(
                    output, self._harness.modules, place=lambda _address, _size: next(places)
                ).skeleton
            except BaseException as error:  # noqa: BLE001 (the author's value may raise anything)
                return self._harness.raised(error)
        aliased = overlaps(result, self._given)
        return self._harness.reply(messages.ValueDescribed(skeleton, aliased))

    def _deliver(self, result: Encoded, device_size: int) -> bool:
        """Copy the result to where the judge reads it; False if there is too little room."""
        arena, output, driver = self._output_arena, self._output, self._harness.driver
        if arena is None or output is None:
            raise ChannelError("a call without memory")
        if device_size > arena.size_bytes or result.size_bytes > output.size_bytes:
            return False
        is_copying = False
        for leaf in result.leaves:
            target = arena.address + leaf.offset
            if leaf.in_arena and leaf.address != target:
                driver.copy(target, leaf.address, leaf.size_bytes)
                is_copying = True
        result.copy_to(output)
        if is_copying:
            driver.wait()
        return True

    def _mirror(self, request: messages.Mirror, _fds: list[int]) -> bool:
        """From now on the kernel `mirror` returns so much."""
        self._harness.kernels["mirror"] = _Mirror(
            self._harness, list(request.sizes), request.host_bytes, request.in_place
        )
        return self._harness.reply(messages.Mirrored())

    def _describe_inputs(self, _request: messages.DescribeInputsInArena, _fds: list[int]) -> bool:
        """Describe the inputs as they are now; the judge looks at those in the arena itself."""
        if not self._input_views or self._input is None:
            raise ChannelError("a call without memory")
        view = self._input_views[self._view]
        start = view.address

        def where(address: int, size_bytes: int) -> int:
            inside = start <= address and address + size_bytes <= start + view.size_bytes
            return address - start if inside else -1

        try:
            now = encode(self._data, self._harness.modules, of_input=True, place=where)
            now.copy_to(self._input)
        except ValueError:  # UnsupportedValue is one; so is data that grew
            return self._harness.reply(messages.InputsDescribed(messages.CHANGED))
        return self._harness.reply(messages.InputsDescribed(now.skeleton))


def _first_on_gpu(value: Any) -> Any:
    """The first tensor on a GPU that a call is given, maybe in tuples, lists or dicts; None if
    there is none."""
    torch: Any = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        return value if value.is_cuda else None
    parts = value.values() if isinstance(value, dict) else value
    found = map(_first_on_gpu, parts if isinstance(value, dict | tuple | list) else ())
    return next((one for one in found if one is not None), None)


def _plain(value: Any, placer: Allocator) -> Encoded | None:
    """Where the bytes of an output are, if it is one array on the GPU or a tuple or list of such,
    without gaps; else None."""
    torch: Any = sys.modules.get("torch")
    leaves = []
    for part in value if type(value) in (tuple, list) else (value,):
        if torch is None or type(part) is not torch.Tensor:
            return None
        if not part.is_cuda or not part.is_contiguous() or part.is_conj() or part.is_neg():
            return None
        address, size = part.data_ptr(), part.nbytes
        leaves.append(Leaf(address, size, placer(address, size), part, True, in_arena=True))
    return Encoded(None, tuple(leaves), 0)


def _room(arena: Arena, placer: Allocator, torch: Any, device: str, size_bytes: int) -> Any:
    """A flat tensor of so many bytes in the output arena."""
    offset = placer(0, size_bytes)
    return device_bytes(torch, View(arena.address + offset, size_bytes, arena), device)
