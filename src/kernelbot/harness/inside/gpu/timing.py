"""Times a call on a GPU, through the driver's own functions rather than through torch's.

The author's Python shares the process and may patch every name of torch; nothing here uses one.
What native code may do to the driver itself is limited by the judge's clock, see `plausibility`.
"""

import ctypes
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any, Protocol

from kernelbot.harness.inside.gpu.driver import Driver, GpuError, HipDriver, NoDriver
from kernelbot.harness.inside.gpu.hip_library import hip_library
from kernelbot.protocol import Vendor

FLUSHES = 2
"""A flush writes this many times the size of the last-level cache."""
_INFINITY_CACHE_BYTES = 256 << 20
"""The cache behind the L2 of MI300, of which no property tells."""
_PERSISTING_L2_LIMIT = 6  # CU_LIMIT_PERSISTING_L2_CACHE_SIZE
_UNSUPPORTED = frozenset({215, 801})  # CUDA_ERROR_UNSUPPORTED_LIMIT, CUDA_ERROR_NOT_SUPPORTED
_WORD_BYTES = 4
_EMPTY_CALLS = 20
_MOST_EMPTY_CALLS = 0.9
"""Quantile of what empty calls cost the host's clock more than the GPU's."""
_NOTHING = b"""
.version 6.4
.target sm_75
.address_size 64
.visible .entry nothing() { ret; }
\0"""
"""A kernel that does nothing: PTX for the oldest GPU that is still in use."""


Barrier = Callable[[], Any] | None


class RunnerGpu(Protocol):
    """What the runner needs of a GPU."""

    begun_ns: int
    """When the last timed call began, by the host's clock."""
    driver: Driver | None
    """The driver, if it can share memory between processes; else None."""

    @property
    def nothing(self) -> Callable[[], Any] | None:
        """Launches a kernel that does nothing; None if that isn't known for this GPU."""

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

    def fault(self) -> int:
        """The driver's code for an earlier failure, which has made the GPU useless to this process;
        0 if there was none."""


def open_gpu(number: int = 0) -> RunnerGpu:
    """The GPU that this process computes on, initialised, which takes long.

    Never call it in a process that forks later: a context doesn't survive that.
    Raises `GpuError` if there is none.
    """
    vendor = frameworks_vendor()
    gpu = HipGpu(number=number) if vendor is Vendor.AMD else CudaGpu(number=number)
    if vendor is not None:
        sys.modules["torch"].cuda.init()
    return gpu


def frameworks_vendor() -> Vendor | None:
    """Whose GPUs torch computes on; None if it isn't loaded, or is built for processors."""
    built = getattr(sys.modules.get("torch"), "version", None)
    if getattr(built, "hip", None) is not None:
        return Vendor.AMD
    return Vendor.NVIDIA if getattr(built, "cuda", None) is not None else None


class Flusher:
    """Evicts a GPU's cache by writing memory of twice its size."""

    def __init__(self, driver: Driver, cache_bytes: int) -> None:
        """Raises `GpuError`."""
        self._driver = driver
        self._words = max(FLUSHES * cache_bytes // _WORD_BYTES, 1)
        self._ballast = driver.allocate(self._words * _WORD_BYTES)

    def flush(self) -> None:
        """Begin to evict the cache's content, also what somebody has marked as persisting. Raises
        `GpuError`."""
        driver = self._driver
        driver.enter()
        reset_persisting_lines(driver)
        words, address = ctypes.c_size_t(self._words), ctypes.c_uint64(self._ballast)
        driver.do("cuMemsetD32Async", address, ctypes.c_uint(0), words, driver.stream)


def reset_persisting_lines(driver: Driver) -> None:
    """Let all lines of the cache be evicted again. Raises `GpuError`."""
    if isinstance(driver, HipDriver):
        return
    driver.do("cuCtxSetLimit", _PERSISTING_L2_LIMIT, ctypes.c_size_t(0), forgiven=_UNSUPPORTED)
    driver.do("cuCtxResetPersistingL2Cache", forgiven=_UNSUPPORTED)


def cache_bytes(driver: Driver) -> int:
    """What a flush must evict: AMD's driver doesn't tell of its last-level cache."""
    return _INFINITY_CACHE_BYTES if isinstance(driver, HipDriver) else driver.l2_bytes


class CudaGpu:
    """An NVIDIA GPU, through libcuda, in the primary context that torch and libcudart share."""

    def __init__(
        self,
        library: str = "libcuda.so.1",
        number: int = 0,
        clock: Callable[[], int] = time.perf_counter_ns,
    ) -> None:
        """Create the context (some tenths of a second). `clock`: the host's. Raises `GpuError`."""
        driver = self._driver = self._open(library, number)
        self.driver: Driver | None = driver if driver.has_virtual_memory() else None
        self._clock = clock
        self.begun_ns = 0
        self._start, self._end = ctypes.c_void_p(), ctypes.c_void_p()
        for event in (self._start, self._end):
            driver.do("cuEventCreate", ctypes.byref(event), 0)
        self._flusher: Flusher | None = None
        self._compute = self._prepare_turn()
        self._marking_ns = 0
        self._measure_marking()

    @property
    def nothing(self) -> Callable[[], Any] | None:
        """A single call of the driver's, prepared: nothing launches for less."""
        return self._compute

    def timed(
        self,
        function: Callable[..., Any],
        arguments: tuple[Any, ...],
        *,
        cold: bool,
        barrier: Barrier = None,
    ) -> tuple[Any, int]:
        """Timed by the GPU's clock: from when the call began, with the device idle, until all
        streams that wait for each other are done.

        Work on streams that wait for no other ends later by the host's clock. That counts as well,
        less what waiting costs it after an empty call.
        """
        if cold:
            self._flush()
        self._take_turn()
        _meet(barrier)
        returned, by_host_ns, by_gpu_ns = self._between_marks(function, arguments)
        _meet(barrier)
        return returned, max(by_gpu_ns, by_host_ns - self._marking_ns)

    def until_now_ns(self) -> int:
        """By the host's clock."""
        self._synchronize()
        return self._clock() - self.begun_ns

    def read(self, target: int, source: int, size_bytes: int) -> None:
        """On a stream of our own: doesn't wait for other work."""
        self._driver.download(target, source, size_bytes)

    def fault(self) -> int:
        """Implements `RunnerGpu.fault`."""
        return self._driver.fault()

    def _between_marks(
        self, function: Callable[..., Any], arguments: tuple[Any, ...]
    ) -> tuple[Any, int, int]:
        """The function's result, and the ns that it took by the host's clock and by the GPU's."""
        do = self._driver.do
        do("cuEventRecord", self._start, None)
        self.begun_ns = self._clock()
        returned = function(*arguments)
        # The author may have made another context current: then we would mark that one.
        self._driver.enter()
        do("cuEventRecord", self._end, None)
        do("cuCtxSynchronize")
        by_host_ns = self._clock() - self.begun_ns
        elapsed_ms = ctypes.c_float()
        do("cuEventElapsedTime", ctypes.byref(elapsed_ms), self._start, self._end)
        return returned, by_host_ns, round(elapsed_ms.value * 1e6)

    def _measure_marking(self) -> None:
        """Measure what waiting costs the host's clock, before any author's code runs here."""
        more_ns = []
        for _ in range(_EMPTY_CALLS):
            self._take_turn()
            _, by_host_ns, by_gpu_ns = self._between_marks(_nothing, ())
            more_ns.append(by_host_ns - by_gpu_ns)
        self._marking_ns = max(sorted(more_ns)[int(_MOST_EMPTY_CALLS * _EMPTY_CALLS) - 1], 0)

    def _flush(self) -> None:
        if self._flusher is None:
            self._flusher = Flusher(self._driver, cache_bytes(self._driver))
        self._flusher.flush()

    def _take_turn(self) -> None:
        """Wait until the device is idle and our context computes on it. After the judge's work that
        is a switch of some tens of microseconds, which is no part of a call."""
        self._synchronize()
        self._compute()
        self._synchronize()

    def _open(self, library: str, number: int) -> Driver:
        return Driver(library, number)

    def _prepare_turn(self) -> Callable[[], Any]:
        """The least work of a kernel's."""
        return _launch_of_nothing(self._driver)

    def _synchronize(self) -> None:
        # The author may have made another context current: then we would wait for that one.
        self._driver.enter()
        self._driver.do("cuCtxSynchronize")


def _launch_of_nothing(driver: Driver) -> Callable[[], Any]:
    """Launches a kernel that does nothing. Raises `GpuError`."""
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    driver.do("cuModuleLoadData", ctypes.byref(module), _NOTHING)
    driver.do("cuModuleGetFunction", ctypes.byref(function), module, b"nothing")
    launch = driver.function("cuLaunchKernel")
    one, none = ctypes.c_uint(1), ctypes.c_void_p()
    return partial(launch, function, *[one] * 6, ctypes.c_uint(0), none, none, none)


class HipGpu(CudaGpu):
    """An AMD GPU, through the runtime that torch has loaded, timed as NVIDIA's are."""

    def __init__(
        self,
        library: str | None = None,
        number: int = 0,
        clock: Callable[[], int] = time.perf_counter_ns,
    ) -> None:
        """Takes what `CudaGpu` takes. Raises `GpuError`."""
        super().__init__(library or hip_library(), number, clock)

    @property
    def nothing(self) -> Callable[[], Any] | None:
        """None: a kernel that does nothing would have to be compiled for each of AMD's GPUs."""
        return None

    def _open(self, library: str, number: int) -> Driver:
        return HipDriver(library, number)

    def _prepare_turn(self) -> Callable[[], Any]:
        """Writes a byte, by a kernel of the runtime's own."""
        driver = self._driver
        return partial(driver.fill, driver.allocate(1), 0, 1)


def find_library(vendor: Vendor) -> str | None:
    """The driver's library for a vendor; None for a CPU."""
    if vendor is Vendor.NVIDIA:
        return "libcuda.so.1"
    return hip_library() if vendor is Vendor.AMD else None


def open_driver(number: int = 0, *, alone: bool = True, vendor: Vendor | None = None) -> Driver:
    """The driver of a vendor's GPUs, without a framework; `alone` as of `Driver`. `vendor` None:
    of those that this machine has, NVIDIA's if it has both. Raises `GpuError`."""
    if vendor is Vendor.AMD:
        return HipDriver(hip_library(), number, alone=alone)
    if vendor is Vendor.NVIDIA:
        return Driver(number=number, alone=alone)
    try:
        return Driver(number=number, alone=alone)
    except GpuError as error:
        try:
            return HipDriver(hip_library(), number, alone=alone)
        except GpuError as amds:
            is_amds = isinstance(error, NoDriver) and not isinstance(amds, NoDriver)
            raise (amds if is_amds else error) from None


def _nothing() -> None:
    """No work."""


def _meet(barrier: Barrier) -> None:
    if barrier is not None:
        barrier()
