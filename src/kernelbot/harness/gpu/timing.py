"""Times a call on a GPU, through the driver's own functions rather than through torch's.

The author's Python shares the process and may patch every name of torch; nothing here uses one.
What native code may do to the driver itself is limited by the judge's clock, see `plausibility`.
"""

import ctypes
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

FLUSHES = 2
"""A flush writes this many times the size of the last-level cache."""
_INFINITY_CACHE_BYTES = 256 << 20
"""Of MI300: the cache behind the L2, of which no property tells."""
_L2_CACHE_BYTES = 38  # CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE
_PERSISTING_L2_LIMIT = 6  # CU_LIMIT_PERSISTING_L2_CACHE_SIZE
_NON_BLOCKING = 1  # CU_STREAM_NON_BLOCKING
_UNSUPPORTED = frozenset({215, 801})  # CUDA_ERROR_UNSUPPORTED_LIMIT, CUDA_ERROR_NOT_SUPPORTED
_WORD_BYTES = 4
_DEVICE_TO_HOST = 2  # hipMemcpyDeviceToHost


Barrier = Callable[[], Any] | None


class GpuError(RuntimeError):
    """The driver refused, or work that was submitted to the GPU has failed."""


class Gpu(Protocol):
    """What the runner needs of a GPU."""

    begun_ns: int
    """When the last timed call began, by the host's clock."""

    def timed(
        self,
        function: Callable[..., Any],
        arguments: tuple[Any, ...],
        *,
        cold: bool,
        barrier: Barrier = None,
    ) -> tuple[Any, int]:
        """Call `function`; returns its result, and the ns until all its work on the GPU was done.

        `cold`: with the GPU's cache flushed. `barrier`: several ranks wait for each other there,
        before and after. Raises `GpuError`, and what `function` raises.
        """

    def until_now_ns(self) -> int:
        """Wait for the work submitted since; returns the ns since the call began. Raises
        `GpuError`."""

    def read(self, target: int, source: int, size_bytes: int) -> None:
        """Copy from the GPU's memory at `source` to the host's at `target`. Raises `GpuError`."""

    def is_lost(self) -> bool:
        """Whether an earlier failure has made the GPU useless to this process."""


def open_gpu(number: int = 0) -> Gpu:
    """The GPU that this process computes on, initialised, which takes long.

    Never call it in a process that forks later: a context doesn't survive that.
    Raises `GpuError` if there is none.
    """
    torch: Any = sys.modules.get("torch")
    if torch is not None and torch.version.hip is not None:
        return TorchGpu(torch, number)
    gpu = CudaGpu(number=number)
    if torch is not None and torch.version.cuda is not None:
        torch.cuda.init()
    return gpu


class CudaGpu:
    """An NVIDIA GPU, through libcuda, in the primary context that torch and libcudart share."""

    def __init__(self, library: str = "libcuda.so.1", number: int = 0) -> None:
        """Create the context (some tenths of a second). Raises `GpuError`."""
        try:
            self._cuda = ctypes.CDLL(library)
        except OSError as error:
            raise GpuError(f"NVIDIA's driver can't be loaded: {error}") from error
        self._clock = time.perf_counter_ns
        self.begun_ns = 0
        self._context = ctypes.c_void_p()
        self._stream = ctypes.c_void_p()
        self._start, self._end = ctypes.c_void_p(), ctypes.c_void_p()
        self._ballast = ctypes.c_uint64()
        device, l2_bytes = ctypes.c_int(), ctypes.c_int()
        self._do("cuInit", 0)
        self._do("cuDeviceGet", ctypes.byref(device), number)
        self._do("cuDevicePrimaryCtxRetain", ctypes.byref(self._context), device)
        self._do("cuCtxSetCurrent", self._context)
        self._do("cuDeviceGetAttribute", ctypes.byref(l2_bytes), _L2_CACHE_BYTES, device)
        self._do("cuStreamCreate", ctypes.byref(self._stream), _NON_BLOCKING)
        for event in (self._start, self._end):
            self._do("cuEventCreate", ctypes.byref(event), 0)
        self._words = FLUSHES * l2_bytes.value // _WORD_BYTES
        size = ctypes.c_size_t(max(self._words, 1) * _WORD_BYTES)
        self._do("cuMemAlloc_v2", ctypes.byref(self._ballast), size)

    def timed(
        self,
        function: Callable[..., Any],
        arguments: tuple[Any, ...],
        *,
        cold: bool,
        barrier: Barrier = None,
    ) -> tuple[Any, int]:
        """Timed by two clocks, the host's and the GPU's; the larger time counts.

        Before the first mark the device is idle, and before the second one it is idle again, so
        that work on other streams counts.
        """
        clock = self._clock
        if cold:
            self._flush()
        self._synchronize()
        _meet(barrier)
        self._mark(self._start)
        self.begun_ns = clock()
        returned = function(*arguments)
        self._synchronize()
        took_ns = clock() - self.begun_ns
        self._mark(self._end)
        took_ns = max(took_ns, self._between_marks_ns())
        _meet(barrier)
        return returned, took_ns

    def until_now_ns(self) -> int:
        """By the host's clock."""
        self._synchronize()
        return self._clock() - self.begun_ns

    def read(self, target: int, source: int, size_bytes: int) -> None:
        """On a stream of our own: doesn't wait for other work."""
        destination, address = ctypes.c_void_p(target), ctypes.c_uint64(source)
        size = ctypes.c_size_t(size_bytes)
        self._do("cuMemcpyDtoHAsync_v2", destination, address, size, self._stream)
        self._do("cuStreamSynchronize", self._stream)

    def is_lost(self) -> bool:
        """Whether a kernel has failed: a context never recovers from that."""
        return bool(self._cuda.cuCtxSynchronize())

    def _flush(self) -> None:
        """Evict the cache's content, also what the author has marked as persisting."""
        self._do("cuCtxSetCurrent", self._context)
        for name, *arguments in (
            ("cuCtxSetLimit", _PERSISTING_L2_LIMIT, ctypes.c_size_t(0)),
            ("cuCtxResetPersistingL2Cache",),
        ):
            self._do(name, *arguments, forgiven=_UNSUPPORTED)
        words = ctypes.c_size_t(self._words)
        self._do("cuMemsetD32Async", self._ballast, ctypes.c_uint(0), words, self._stream)

    def _synchronize(self) -> None:
        # The author may have made another context current: then we would wait for that one.
        self._do("cuCtxSetCurrent", self._context)
        self._do("cuCtxSynchronize")

    def _mark(self, event: ctypes.c_void_p) -> None:
        """Record a mark and wait for it, so that no later work can overtake it."""
        self._do("cuEventRecord", event, self._stream)
        self._do("cuEventSynchronize", event)

    def _between_marks_ns(self) -> int:
        elapsed_ms = ctypes.c_float()
        self._do("cuEventElapsedTime", ctypes.byref(elapsed_ms), self._start, self._end)
        return round(elapsed_ms.value * 1e6)

    def _do(self, name: str, *arguments: Any, forgiven: frozenset[int] = frozenset()) -> None:
        code = getattr(self._cuda, name)(*arguments)
        if code != 0 and code not in forgiven:
            raise GpuError(f"{self._describe(code)} ({name})")

    def _describe(self, code: int) -> str:
        texts = []
        for name in ("cuGetErrorName", "cuGetErrorString"):
            text = ctypes.c_char_p()
            getattr(self._cuda, name)(code, ctypes.byref(text))
            texts.append((text.value or b"").decode(errors="replace"))
        return ": ".join(filter(None, texts)) or f"CUDA error {code}"


class TorchGpu:
    """A GPU that is used through torch (AMD's), timed by the host's clock."""

    def __init__(self, torch: Any, number: int = 0) -> None:
        """Raises `GpuError`."""
        try:
            torch.cuda.init()
            l2_bytes = int(torch.cuda.get_device_properties(number).L2_cache_size)
            size = FLUSHES * max(l2_bytes, _INFINITY_CACHE_BYTES)
            self._ballast = torch.empty(size, dtype=torch.uint8, device=f"cuda:{number}")
        except RuntimeError as error:
            raise GpuError(str(error)) from error
        self._hip = ctypes.CDLL(_loaded_library("libamdhip64"))
        self._synchronize = torch.cuda.synchronize
        self._clock = time.perf_counter_ns
        self.begun_ns = 0

    def timed(
        self,
        function: Callable[..., Any],
        arguments: tuple[Any, ...],
        *,
        cold: bool,
        barrier: Barrier = None,
    ) -> tuple[Any, int]:
        """As `Gpu.timed` says."""
        if cold:
            self._ballast.zero_()
        self._synchronize()
        _meet(barrier)
        self.begun_ns = self._clock()
        returned = function(*arguments)
        took_ns = self.until_now_ns()
        _meet(barrier)
        return returned, took_ns

    def until_now_ns(self) -> int:
        """As `Gpu.until_now_ns` says."""
        self._synchronize()
        return self._clock() - self.begun_ns

    def read(self, target: int, source: int, size_bytes: int) -> None:
        """Copy with the HIP library that torch has loaded."""
        size = ctypes.c_size_t(size_bytes)
        code = self._hip.hipMemcpy(
            ctypes.c_void_p(target), ctypes.c_void_p(source), size, _DEVICE_TO_HOST
        )
        if code != 0:
            raise GpuError(f"the GPU's memory can't be read: HIP error {code}")

    def is_lost(self) -> bool:
        """Whether waiting fails."""
        try:
            self._synchronize()
        except RuntimeError:
            return True
        return False


def _meet(barrier: Barrier) -> None:
    if barrier is not None:
        barrier()


def _loaded_library(name: str) -> str:
    """The path of a library that this process has mapped already; else the name itself."""
    for line in Path("/proc/self/maps").read_text().splitlines():
        path = line.rpartition(" ")[2]
        if Path(path).name.startswith(name):
            return path
    return f"{name}.so"
