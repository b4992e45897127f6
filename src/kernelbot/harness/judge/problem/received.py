"""A call's data, as a process of the problem's sends it: plain data, not trusted."""

import contextlib
import os
import stat
from collections.abc import Iterator
from functools import partial

from kernelbot.harness.data.descriptors import close_apart
from kernelbot.harness.data.encode import Encoded, Json, Leaf
from kernelbot.harness.data.leaves import host_leaf_sizes, leaf_sizes
from kernelbot.harness.data.private_memory import read_at
from kernelbot.harness.data.shared_memory import expect_sealed
from kernelbot.harness.gpu.device_data import DeviceData
from kernelbot.harness.gpu.judge_device import JudgeDevice
from kernelbot.harness.inside.cage.loader import ProblemBroken
from kernelbot.harness.words import cage_messages as messages


def received(answer: messages.Asked, fds: list[int], *, in_arena: bool) -> Encoded:
    """A call's data as a process of the problem's sent it, copied from the memory that it came in.

    `in_arena`: the arrays of a GPU are not among it. Takes the descriptors. Raises `ProblemBroken`
    if it isn't what it should be.
    """
    with _sent_memory(fds) as fd:
        return _copied(answer.data, fd, (0, answer.size_bytes), in_arena=in_arena)


def received_all(answer: messages.AllAsked, fds: list[int], count: int) -> list[Encoded]:
    """The data of `count` calls that a process of the problem's sent together. Takes the
    descriptors. Raises `ProblemBroken` if it isn't what it should be."""
    with _sent_memory(fds) as fd:
        skeletons, begins = answer.data, [*answer.begins, answer.size_bytes]
        if type(skeletons) is not list or not len(skeletons) == len(answer.begins) == count:
            raise ValueError("as much as wasn't asked for")
        if begins != sorted(begins) or begins[0] < 0:
            raise ValueError("bytes outside of the buffer")
        return [
            _copied(skeleton, fd, (begin, end), in_arena=False)
            for skeleton, begin, end in zip(skeletons, begins, begins[1:], strict=False)
        ]


@contextlib.contextmanager
def _sent_memory(fds: list[int]) -> Iterator[int]:
    """The descriptor of the memory that came along, while it is read. Takes the descriptors."""
    try:
        if len(fds) != 1:
            raise ValueError(f"{len(fds)} descriptors")
        expect_sealed(fds[0])
        yield fds[0]
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError) as error:
        raise ProblemBroken(f"The problem's process sent no data: {error}") from error
    except OSError as error:
        raise ProblemBroken(f"The problem's data can't be read: {error}") from error
    finally:
        close_all(fds)


def on_device(device: JudgeDevice, given: Encoded, size_bytes: int) -> DeviceData:
    """The same data with room for its arrays in the judge's memory; `size_bytes` as the problem's
    process says. Raises `ProblemBroken`, `DeviceFull`, `GpuError`."""
    if size_bytes < 0:
        raise ProblemBroken("The problem's process sent no size of its data.")
    piece = device.pool.piece(size_bytes)
    host = given.leaves, given.size_bytes
    return DeviceData(given.skeleton, *host, device=device, piece=piece)


def _copied(skeleton: Json, fd: int, stretch: tuple[int, int], *, in_arena: bool) -> Encoded:
    begin, end = stretch
    size_bytes = end - begin
    stretches = list((host_leaf_sizes if in_arena else leaf_sizes)(skeleton))
    for offset, size in stretches:
        if type(offset) is not int or type(size) is not int:
            raise TypeError("a malformed stretch of bytes")
        if not 0 <= offset <= offset + size <= size_bytes:
            raise ValueError("bytes outside of the buffer")
    kept = read_at(fd, begin, size_bytes)
    leaves = tuple(Leaf(kept.address + offset, size, offset, kept) for offset, size in stretches)
    return Encoded(skeleton, leaves, size_bytes)


def close_all(fds: list[int]) -> None:
    """Close descriptors: memory at once, what may linger apart."""
    for fd in fds:
        if stat.S_ISREG(os.fstat(fd).st_mode):
            os.close(fd)
        else:
            close_apart(partial(os.close, fd))
