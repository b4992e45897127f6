"""Memory of a device that one process owns and others map: the judge's, for data and outputs.

It is physical memory with a file descriptor. Whoever gets the descriptor maps the memory into its
own context; it can neither free it nor reach any other memory of the owner's.
"""

import contextlib
import ctypes
import os
import weakref
from dataclasses import dataclass, field

from kernelbot.harness.inside.gpu.driver import DeviceFull, Driver, GpuError

ALIGNMENT = 256
"""The alignment of everything that lies in an arena: that of a GPU's allocator."""
_PINNED = 1  # CU_MEM_ALLOCATION_TYPE_PINNED
_FILE_DESCRIPTOR = 1  # CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
_ON_DEVICE = 1  # CU_MEM_LOCATION_TYPE_DEVICE
_READ_AND_WRITE = 3  # CU_MEM_ACCESS_FLAGS_PROT_READWRITE
_CHUNK_BYTES = 64 << 20


class _Location(ctypes.Structure):
    _fields_ = (("kind", ctypes.c_int), ("number", ctypes.c_int))


class _Properties(ctypes.Structure):
    """CUmemAllocationProp, which is hipMemAllocationProp."""

    _fields_ = (
        ("kind", ctypes.c_int),
        ("handles", ctypes.c_int),
        ("location", _Location),
        ("unused", ctypes.c_void_p),
        ("flags", ctypes.c_ubyte * 8),
    )


class _Access(ctypes.Structure):
    _fields_ = (("location", _Location), ("flags", ctypes.c_int))


def aligned(offset: int) -> int:
    """The next offset at which something may lie."""
    return -(-offset // ALIGNMENT) * ALIGNMENT


@dataclass
class Allocator:
    """Places arrays one after another, as `encode` wants."""

    end: int = 0
    """Where the last one ends."""

    def __call__(self, _address: int, size_bytes: int) -> int:
        offset = aligned(self.end)
        self.end = offset + size_bytes
        return offset


class Arena:
    """Memory of the device, mapped in this process at each of `addresses`, until nobody refers to
    it or it is closed."""

    def __init__(self, driver: Driver, handle: int, size_bytes: int, views: int) -> None:
        self._driver = driver
        self._handle = ctypes.c_uint64(handle)
        self.size_bytes = size_bytes
        mapped: list[int] = []
        try:
            while len(mapped) < views:
                mapped.append(_map(driver, self._handle, size_bytes))
        except GpuError:  # there may be no room for the tables of its pages
            _unmap(driver, self._handle, tuple(mapped), size_bytes, [])
            raise
        self.addresses = tuple(mapped)
        self._exported: list[int] = []
        self._unmap = weakref.finalize(
            self, _unmap, driver, self._handle, self.addresses, size_bytes, self._exported
        )
        self._unmap.atexit = False

    @classmethod
    def create(cls, driver: Driver, size_bytes: int) -> "Arena":
        """Fresh memory of at least `size_bytes`. Raises `DeviceFull`, `GpuError`."""
        properties = _Properties(_PINNED, _FILE_DESCRIPTOR, _Location(_ON_DEVICE, driver.number))
        step, handle = ctypes.c_size_t(), ctypes.c_uint64()
        wanted = ctypes.byref(properties)
        driver.do("cuMemGetAllocationGranularity", ctypes.byref(step), wanted, 0)
        page = max(step.value, driver.page_bytes)
        size = -(-max(size_bytes, 1) // page) * page
        no_flags = ctypes.c_uint64(0)
        try:
            driver.do("cuMemCreate", ctypes.byref(handle), ctypes.c_size_t(size), wanted, no_flags)
            return cls(driver, handle.value, size, 1)
        except DeviceFull as error:
            error.size_bytes = size
            raise

    @classmethod
    def attach(cls, driver: Driver, fd: int, size_bytes: int, views: int = 1) -> "Arena":
        """Memory that another process has created, at so many addresses. Takes the descriptor.
        Raises `GpuError`."""
        handle = ctypes.c_uint64()
        try:
            driver.do(
                "cuMemImportFromShareableHandle",
                ctypes.byref(handle),
                driver.descriptor(fd),
                _FILE_DESCRIPTOR,
            )
            return cls(driver, handle.value, size_bytes, views)
        finally:
            os.close(fd)  # not before it is mapped: AMD's runtime may read it only then

    @property
    def address(self) -> int:
        """The first of its addresses."""
        return self.addresses[0]

    def offset_of(self, address: int, size_bytes: int) -> int | None:
        """Where in it some memory lies; None if that isn't all within one of its views."""
        for start in self.addresses:
            if start <= address and address + size_bytes <= start + self.size_bytes:
                return address - start
        return None

    def export(self) -> int:
        """A descriptor to send to another process; the caller closes it. Raises `GpuError`.

        A copy of the first one, which is kept: AMD's runtime may hand that on again, open or not.
        """
        if not self._exported:
            fd, no_flags = ctypes.c_int(), ctypes.c_uint64(0)
            self._driver.do(
                "cuMemExportToShareableHandle",
                ctypes.byref(fd),
                self._handle,
                _FILE_DESCRIPTOR,
                no_flags,
            )
            self._exported.append(fd.value)
        return os.dup(self._exported[0])

    def close(self) -> None:
        """Unmap it; the memory is free once nobody maps it. Harmless when repeated."""
        self._unmap()


def cleared(driver: Driver, size_bytes: int) -> Arena:
    """Fresh memory that is zeros: a driver may give some that was used for something else. Raises
    `DeviceFull`, `GpuError`."""
    arena = Arena.create(driver, size_bytes)
    driver.fill(arena.address, 0, arena.size_bytes)
    driver.wait()
    return arena


def _unmap(
    driver: Driver,
    handle: ctypes.c_uint64,
    addresses: tuple[int, ...],
    size_bytes: int,
    exported: list[int],
) -> None:
    size = ctypes.c_size_t(size_bytes)
    while exported:
        os.close(exported.pop())
    for address in addresses:
        driver.do("cuMemUnmap", ctypes.c_uint64(address), size)
        driver.do("cuMemAddressFree", ctypes.c_uint64(address), size)
    driver.do("cuMemRelease", handle)


def _map(driver: Driver, handle: ctypes.c_uint64, size_bytes: int) -> int:
    address, size, nothing = ctypes.c_uint64(), ctypes.c_size_t(size_bytes), ctypes.c_uint64(0)
    access = _Access(_Location(_ON_DEVICE, driver.number), _READ_AND_WRITE)
    page = ctypes.c_size_t(driver.page_bytes)
    driver.do("cuMemAddressReserve", ctypes.byref(address), size, page, nothing, nothing)
    with contextlib.ExitStack() as undone:
        undone.callback(driver.do, "cuMemAddressFree", address, size)
        driver.do("cuMemMap", address, size, ctypes.c_size_t(0), handle, nothing)
        undone.callback(driver.do, "cuMemUnmap", address, size)
        driver.do("cuMemSetAccess", address, size, ctypes.byref(access), ctypes.c_size_t(1))
        undone.pop_all()
    return address.value


@dataclass(eq=False)
class Chunk:
    """An arena of a pool, and which stretches of it are free: offset and size, in order."""

    number: int
    arena: Arena
    free: list[tuple[int, int]]

    def take(self, size_bytes: int) -> int | None:
        """The offset of a stretch that was free; None if there is none so large."""
        for place, (offset, size) in enumerate(self.free):
            if size >= size_bytes:
                rest = [(offset + size_bytes, size - size_bytes)] if size > size_bytes else []
                self.free[place : place + 1] = rest
                return offset
        return None

    def give_back(self, offset: int, size_bytes: int) -> None:
        """A stretch is free again."""
        joined: list[tuple[int, int]] = []
        for start, size in sorted([*self.free, (offset, size_bytes)]):
            if joined and sum(joined[-1]) == start:
                joined[-1] = (joined[-1][0], joined[-1][1] + size)
            else:
                joined.append((start, size))
        self.free = joined

    @property
    def is_empty(self) -> bool:
        """Whether all of it is free."""
        return self.free == [(0, self.arena.size_bytes)]


@dataclass(eq=False)
class ArenaPiece:
    """A stretch of a chunk; free again once nobody refers to it."""

    chunk: Chunk
    offset: int
    size_bytes: int

    @property
    def address(self) -> int:
        """Where it begins."""
        return self.chunk.arena.address + self.offset


@dataclass(eq=False)
class ArenaPool:
    """Memory of the judge's on its device, in chunks that a problem's process may map as well."""

    driver: Driver
    _chunks: list[Chunk] = field(default_factory=list)
    _made: int = 0

    def piece(self, size_bytes: int) -> ArenaPiece:
        """A piece of memory with so many bytes. Raises `DeviceFull`, `GpuError`."""
        size = -(-max(size_bytes, 1) // ALIGNMENT) * ALIGNMENT
        for chunk in self._chunks:
            offset = chunk.take(size)
            if offset is not None:
                return _piece(chunk, offset, size, size_bytes)
        chunk = self._grow(size)
        offset = chunk.take(size)
        if offset is None:
            raise AssertionError("a fresh chunk has room")
        return _piece(chunk, offset, size, size_bytes)

    def chunks(self) -> list[int]:
        """The numbers of the chunks that there are."""
        return [chunk.number for chunk in self._chunks]

    def close(self) -> None:
        """Give all of it back, whoever still refers to a piece."""
        for chunk in self._chunks:
            chunk.arena.close()
        self._chunks = []

    def _grow(self, size_bytes: int) -> Chunk:
        for chunk in [chunk for chunk in self._chunks if chunk.is_empty]:
            chunk.arena.close()  # too small, or it would have been taken
            self._chunks.remove(chunk)
        try:
            arena = Arena.create(self.driver, max(size_bytes, _CHUNK_BYTES))
        except DeviceFull:
            arena = Arena.create(self.driver, size_bytes)
        chunk = Chunk(self._made, arena, [(0, arena.size_bytes)])
        self._made += 1
        self._chunks.append(chunk)
        return chunk


def _piece(chunk: Chunk, offset: int, taken_bytes: int, size_bytes: int) -> ArenaPiece:
    piece = ArenaPiece(chunk, offset, size_bytes)
    weakref.finalize(piece, chunk.give_back, offset, taken_bytes).atexit = False
    return piece
