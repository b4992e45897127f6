"""A GPU's driver, by the C names of its functions: memory, copies and waiting, without a framework.

A process has one `Driver` for each device that it uses; it must not fork afterwards, because a
context doesn't survive that.
"""

import ctypes
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from kernelbot.harness.words.sharing import UNAVAILABLE, UNAVAILABLE_AMDS

_OUT_OF_MEMORY = 2
_NON_BLOCKING = 1  # CU_STREAM_NON_BLOCKING
_NOT_READY = 600
_UUID_BYTES = 16
_DESCRIPTORS_BY_NUMBER = 70_100_000  # ROCm 7.1, as hipRuntimeGetVersion says it
_L2_CACHE_BYTES = 38  # CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE
_INTEGRATED = 18  # CU_DEVICE_ATTRIBUTE_INTEGRATED
_INTEGRATED_AMDS = 16  # hipDeviceAttributeIntegrated
_VIRTUAL_MEMORY = (
    "cuMemGetAllocationGranularity",
    "cuMemCreate",
    "cuMemExportToShareableHandle",
    "cuMemImportFromShareableHandle",
    "cuMemAddressReserve",
    "cuMemMap",
    "cuMemSetAccess",
    "cuMemUnmap",
    "cuMemAddressFree",
    "cuMemRelease",
)


def shares_memory(library: str) -> bool:
    """Whether a driver has the functions by which processes share memory; its GPU isn't touched."""
    try:
        loaded = ctypes.CDLL(library)
    except OSError:
        return False
    names = HipDriver.names if "hip" in library else Driver.names
    return all(hasattr(loaded, names.get(name, name)) for name in _VIRTUAL_MEMORY)


class GpuError(RuntimeError):
    """The driver refused, or work that was submitted to the GPU has failed."""


class NoDriver(GpuError):
    """This machine has no driver that can be loaded."""


class GpuUnavailable(GpuError):
    """The GPU isn't to be had, by nobody's fault who is judged here: see `sharing`."""


class DeviceFull(GpuError):
    """The device has too little free memory."""

    size_bytes = 0
    """How much was wanted, if that is known."""
    number = 0
    """The device's number."""


class Driver:
    """NVIDIA's, in the primary context that torch and libcudart share."""

    names: Mapping[str, str] = MappingProxyType({})
    """What this vendor calls functions of CUDA's, if it isn't the same."""
    unavailable: Mapping[int, str] = UNAVAILABLE
    """Which of its codes say that the GPU isn't to be had, and why."""
    page_bytes = 0
    """What memory to be shared is a multiple of and aligned to, beyond what the driver says."""
    _integrated = _INTEGRATED

    def __init__(
        self, library: str = "libcuda.so.1", number: int = 0, *, alone: bool = True
    ) -> None:
        """Create the context (some tenths of a second). `alone`: this process uses no other device,
        so that the context stays current; else each call makes it so. Raises `GpuError`."""
        try:
            self._library = ctypes.CDLL(library)
        except OSError as error:
            raise NoDriver(f"The GPU's driver can't be loaded: {error}") from error
        self.number = number
        self._is_alone = True  # until there is a context that can be made current
        self.stream = ctypes.c_void_p()
        """A stream of our own: nothing on it waits for other work, and no other work for it."""
        self._make_context()
        self.do("cuStreamCreate", ctypes.byref(self.stream), _NON_BLOCKING)
        self._is_alone = alone

    def _make_context(self) -> None:
        self._context, self._device = ctypes.c_void_p(), ctypes.c_int()
        l2_bytes = ctypes.c_int()
        self.do("cuInit", 0)
        self.do("cuDeviceGet", ctypes.byref(self._device), self.number)
        self.do("cuDevicePrimaryCtxRetain", ctypes.byref(self._context), self._device)
        self.enter()
        self.do("cuDeviceGetAttribute", ctypes.byref(l2_bytes), _L2_CACHE_BYTES, self._device)
        self.l2_bytes = l2_bytes.value

    def enter(self) -> None:
        """Make our context current again: an author may have made another one."""
        self._call("cuCtxSetCurrent", self._context)

    def identity(self) -> str:
        """What tells this GPU (or this slice of one) from all others, alike in every process; empty
        if the driver can't say. Raises `GpuError`."""
        found = ctypes.create_string_buffer(_UUID_BYTES)
        for name in ("cuDeviceGetUuid_v2", "cuDeviceGetUuid"):
            if self._find(name) is not None:
                self.do(name, found, self._device)
                return found.raw.hex()
        return ""

    def has_virtual_memory(self) -> bool:
        """Whether memory can be shared between processes."""
        return all(self._find(name) is not None for name in _VIRTUAL_MEMORY)

    def do(self, name: str, *arguments: Any, forgiven: frozenset[int] = frozenset()) -> int:
        """Call a function by CUDA's name for it; returns its code, which is 0 or `forgiven`.

        Raises `GpuError`, and `DeviceFull` for want of memory.
        """
        if not self._is_alone:
            self.enter()
        return self._call(name, *arguments, forgiven=forgiven)

    def _call(self, name: str, *arguments: Any, forgiven: frozenset[int] = frozenset()) -> int:
        function = self._find(name)
        if function is None:
            raise GpuError(f"The driver has no function {name}.")
        code = int(function(*arguments))
        if code != 0 and code not in forgiven:
            raise self._error(code, f"{self._describe(code)} ({name})")
        return code

    def _error(self, code: int, text: str) -> GpuError:
        if code in self.unavailable:
            return GpuUnavailable(f"{text}: {self.unavailable[code]}")
        if code != _OUT_OF_MEMORY:
            return GpuError(text)
        full = DeviceFull(text)
        full.number = self.number
        return full

    def descriptor(self, fd: int) -> Any:
        """One to import, as the driver takes it: by its number."""
        return ctypes.c_void_p(fd)

    def function(self, name: str) -> Any:
        """The function itself, to be called without what `do` adds. Raises `GpuError`."""
        found = self._find(name)
        if found is None:
            raise GpuError(f"The driver has no function {name}.")
        return found

    def fault(self) -> int:
        """The driver's code for work that has failed; 0 if none has. A context never recovers."""
        return int(self.function("cuCtxSynchronize")())

    def allocate(self, size_bytes: int) -> int:
        """The address of memory that belongs to this process alone. Raises `GpuError`."""
        address = ctypes.c_uint64()
        self.do("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(size_bytes))
        return address.value

    def release(self, address: int) -> None:
        """Give back what `allocate` gave. Raises `GpuError`."""
        self.do("cuMemFree_v2", ctypes.c_uint64(address))

    def memory_bytes(self) -> tuple[int, int]:
        """The device's memory that nobody uses, and all of it. Raises `GpuError`."""
        free, total = ctypes.c_size_t(), ctypes.c_size_t()
        self.do("cuMemGetInfo_v2", ctypes.byref(free), ctypes.byref(total))
        return free.value, total.value

    def free_bytes(self) -> int:
        """The device's memory that nobody uses. Raises `GpuError`."""
        return self.memory_bytes()[0]

    def has_own_memory(self) -> bool:
        """Whether the device has memory of its own, and doesn't compute with the machine's. Raises
        `GpuError`."""
        found = ctypes.c_int()
        self.do("cuDeviceGetAttribute", ctypes.byref(found), self._integrated, self._device)
        return found.value == 0

    def count(self) -> int:
        """How many GPUs this process may use. Raises `GpuError`."""
        found = ctypes.c_int()
        self.do("cuDeviceGetCount", ctypes.byref(found))
        return found.value

    def copy(self, target: int, source: int, size_bytes: int) -> None:
        """Begin to copy within the device; `wait` returns when it is done. Raises `GpuError`."""
        if size_bytes:
            to, of = ctypes.c_uint64(target), ctypes.c_uint64(source)
            self.do("cuMemcpyDtoDAsync_v2", to, of, ctypes.c_size_t(size_bytes), self.stream)

    def upload(self, target: int, source: int, size_bytes: int) -> None:
        """Begin to copy from the host's memory; as `copy`."""
        if size_bytes:
            to, of = ctypes.c_uint64(target), ctypes.c_void_p(source)
            self.do("cuMemcpyHtoDAsync_v2", to, of, ctypes.c_size_t(size_bytes), self.stream)

    def download(self, target: int, source: int, size_bytes: int) -> None:
        """Copy to the host's memory at `target`, and wait for it. Raises `GpuError`."""
        if size_bytes:
            to, of = ctypes.c_void_p(target), ctypes.c_uint64(source)
            self.do("cuMemcpyDtoHAsync_v2", to, of, ctypes.c_size_t(size_bytes), self.stream)
            self.wait()

    def fill(self, target: int, byte: int, size_bytes: int) -> None:
        """Begin to overwrite with one byte value; as `copy`."""
        if size_bytes:
            to, size = ctypes.c_uint64(target), ctypes.c_size_t(size_bytes)
            self.do("cuMemsetD8Async", to, ctypes.c_ubyte(byte), size, self.stream)

    def wait(self) -> None:
        """Return once all that was begun on `stream` is done. Raises `GpuError`."""
        self.do("cuStreamSynchronize", self.stream)

    def is_done(self) -> bool:
        """Whether all that was begun on `stream` is done. Raises `GpuError`."""
        return self.do("cuStreamQuery", self.stream, forgiven=frozenset({_NOT_READY})) == 0

    def close(self) -> None:
        """Give the context back with all that is in it; the last call. Raises `GpuError`."""
        self.do("cuDevicePrimaryCtxRelease_v2", self._device)

    def _find(self, name: str) -> Any:
        return getattr(self._library, self.names.get(name, name), None)

    def _describe(self, code: int) -> str:
        texts = []
        for name in ("cuGetErrorName", "cuGetErrorString"):
            text = ctypes.c_char_p()
            self.function(name)(code, ctypes.byref(text))
            texts.append((text.value or b"").decode(errors="replace"))
        return ": ".join(filter(None, texts)) or f"error {code}"


class HipDriver(Driver):
    """AMD's, in the same words. It has run on no GPU yet."""

    names = MappingProxyType(
        {
            "cuCtxSynchronize": "hipDeviceSynchronize",
            "cuStreamCreate": "hipStreamCreateWithFlags",
            "cuStreamSynchronize": "hipStreamSynchronize",
            "cuStreamQuery": "hipStreamQuery",
            "cuDeviceGetCount": "hipGetDeviceCount",
            "cuMemAlloc_v2": "hipMalloc",
            "cuMemFree_v2": "hipFree",
            "cuMemGetInfo_v2": "hipMemGetInfo",
            "cuMemcpyDtoDAsync_v2": "hipMemcpyDtoDAsync",
            "cuMemcpyHtoDAsync_v2": "hipMemcpyHtoDAsync",
            "cuMemcpyDtoHAsync_v2": "hipMemcpyDtoHAsync",
            "cuMemsetD8Async": "hipMemsetD8Async",
            "cuMemsetD32Async": "hipMemsetD32Async",
            "cuEventCreate": "hipEventCreateWithFlags",
            "cuEventRecord": "hipEventRecord",
            "cuEventSynchronize": "hipEventSynchronize",
            "cuEventElapsedTime": "hipEventElapsedTime",
            "cuDeviceGetUuid": "hipDeviceGetUuid",
            "cuDeviceGetAttribute": "hipDeviceGetAttribute",
            **{name: name.replace("cu", "hip", 1) for name in _VIRTUAL_MEMORY},
        }
    )
    unavailable = UNAVAILABLE_AMDS
    page_bytes = 2 << 20
    """ROCm calls 4 KiB enough, and on RDNA 4 kernels fault in such memory."""
    _integrated = _INTEGRATED_AMDS

    def _make_context(self) -> None:
        self.do("hipInit", 0)
        self._device = ctypes.c_int(self.number)
        self.l2_bytes = 0
        self.enter()

    def enter(self) -> None:
        """AMD's context is the device's own."""
        self._call("hipSetDevice", self.number)

    def close(self) -> None:
        """Extends `Driver.close`."""
        self.enter()
        self.do("hipDeviceReset")

    def descriptor(self, fd: int) -> Any:
        """Before ROCm 7.1 by the address of its number."""
        version = ctypes.c_int()
        self.do("hipRuntimeGetVersion", ctypes.byref(version))
        if version.value >= _DESCRIPTORS_BY_NUMBER:
            return super().descriptor(fd)
        return ctypes.byref(ctypes.c_int(fd))

    def _describe(self, code: int) -> str:
        """By functions that every version has; they return the text."""
        texts = []
        for name in ("hipGetErrorName", "hipGetErrorString"):
            function = self.function(name)
            function.restype = ctypes.c_char_p
            texts.append((function(code) or b"").decode(errors="replace"))
        return ": ".join(filter(None, texts)) or f"error {code}"
