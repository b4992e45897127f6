"""Takes over a value that another process has described, with its bytes, and builds nothing of it.

For a judge, which hands outputs on to who compares them. So it needs no framework, and whatever is
described differently here comes from the sender's bytes and from what was checked.
"""

import ctypes
import mmap
from collections.abc import Iterator

from kernelbot.harness.data.check import Checker
from kernelbot.harness.data.decode import ReadStretch
from kernelbot.harness.data.encode import ALIGNMENT, Encoded, Json, Leaf
from kernelbot.harness.data.leaves import leaf_nodes

_LARGE_BYTES = 1 << 20


def hold(
    skeleton: Json,
    read: ReadStretch,
    size_bytes: int,
    modules: frozenset[str],
    device: str | None = None,
) -> Encoded:
    """The same value in memory of our own, described as `encode` would if it were built.

    `read` copies the bytes of one leaf after another, `size_bytes` is how many there are of all.
    Nothing is read and no memory taken before all of the skeleton was checked. `device`: on which
    tensors are, None: on those that the skeleton names. Raises `InvalidValue`, MemoryError, and the
    OSError of `read`.
    """
    holder = _Holder(size_bytes, modules)
    holder.device = device
    described = holder.value(skeleton)
    owner, address = held_memory(holder.end_bytes)
    leaves = []
    for source, size, offset in holder.stretches:
        read(address + offset, source, size)
        leaves.append(Leaf(address + offset, size, offset, owner))
    return Encoded(described, tuple(leaves), holder.end_bytes)


def items_of(value: Encoded) -> Iterator[Encoded]:
    """The items of a list that is held, each as a value of its own; they share its memory."""
    left = iter(value.leaves)
    for item in value.skeleton["v"]:
        nodes = list(leaf_nodes(item))
        leaves = [next(left) for _ in nodes]
        start = leaves[0].offset if leaves else 0
        for node in nodes:
            node["o"] -= start
        moved = tuple(
            Leaf(leaf.address, leaf.size_bytes, leaf.offset - start, leaf.owner) for leaf in leaves
        )
        size_bytes = _aligned(moved[-1].offset + moved[-1].size_bytes) if moved else 0
        yield Encoded(item, moved, size_bytes)


def held_memory(size_bytes: int) -> tuple[object, int]:
    """Memory of this process alone: what keeps it, and its address. Raises MemoryError."""
    if size_bytes < _LARGE_BYTES:
        block = ctypes.create_string_buffer(max(size_bytes, 1))
        return block, ctypes.addressof(block)
    try:
        pages = mmap.mmap(-1, size_bytes, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    except OSError as error:
        raise MemoryError(str(error)) from error
    anchor = ctypes.c_char.from_buffer(pages)
    return anchor, ctypes.addressof(anchor)


class _Holder(Checker):
    """Finds out where each leaf's bytes are, and will be."""

    def __init__(self, size_bytes: int, modules: frozenset[str]) -> None:
        super().__init__(size_bytes, modules)
        self.stretches: list[tuple[int, int, int]] = []
        """Of each leaf: the sender's offset, its size, and ours."""
        self.end_bytes = 0

    def place(self, offset: int, size_bytes: int) -> int:
        """Extends `Checker.place`: behind those before it."""
        placed = self.end_bytes
        self.stretches.append((offset, size_bytes, placed))
        self.end_bytes = _aligned(placed + size_bytes)
        return placed


def _aligned(size_bytes: int) -> int:
    return -(-size_bytes // ALIGNMENT) * ALIGNMENT
