"""Times a call on a GPU, through the driver's own functions rather than through torch's.

The author's Python shares the process and may patch every name of torch; nothing here uses one.
What native code may do to the driver itself is limited by the judge's clock, see `plausibility`.
"""

import ctypes
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from kernelbot.harness.gpu.driver import Driver, GpuError, HipDriver
from kernelbot.protocol import Vendor

FLUSHES = 2
"""A flush writes this many times the size of the last-level cache."""
_INFINITY_CACHE_BYTES = 256 << 20
"""Of MI300: the cache behind the L2, of which no property tells."""
_PERSISTING_L2_LIMIT = 6  # CU_LIMIT_PERSISTING_L2_CACHE_SIZE
_UNSUPPORTED = frozenset({215, 801})  # CUDA_ERROR_UNSUPPORTED_LIMIT, CUDA_ERROR_NOT_SUPPORTED
_WORD_BYTES = 4
_DEVICE_TO_HOST = 2  # hipMemcpyDeviceToHost
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


class Gpu(Protocol):
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


def open_gpu(number: int = 0) -> Gpu:
    """The GPU that this process computes on, initialised, which takes long.

    Never call it in a process that forks later: a context doesn't survive that.
    Raises `GpuError` if there is none.
    """
    torch: Any = sys.modules.get("torch")
    if torch is not None and getattr(torch.version, "hip", None) is not None:
        return TorchGpu(torch, number)
    gpu = CudaGpu(number=number)
    if torch is not None and torch.version.cuda is not None:
        torch.cuda.init()
    return gpu


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
        driver = self._driver = Driver(library, number)
        self.driver: Driver | None = driver if driver.has_virtual_memory() else None
        self._clock = clock
        self.begun_ns = 0
        self._start, self._end = ctypes.c_void_p(), ctypes.c_void_p()
        for event in (self._start, self._end):
            driver.do("cuEventCreate", ctypes.byref(event), 0)
        self._flusher: Flusher | None = None
        self._nothing: Callable[[], Any] | None = None
        self._marking_ns = 0
        self._measure_marking()

    @property
    def nothing(self) -> Callable[[], Any] | None:
        """A single call of the driver's, prepared: nothing launches for less."""
        if self._nothing is None:
            module, function = ctypes.c_void_p(), ctypes.c_void_p()
            self._driver.do("cuModuleLoadData", ctypes.byref(module), _NOTHING)
            self._driver.do("cuModuleGetFunction", ctypes.byref(function), module, b"nothing")
            launch = self._driver.function("cuLaunchKernel")
            one, none = ctypes.c_uint(1), ctypes.c_void_p()
            self._nothing = partial(
                launch, function, *[one] * 6, ctypes.c_uint(0), none, none, none
            )
        return self._nothing

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
        self._synchronize()
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
        """As `Gpu.fault` says."""
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
            self._synchronize()
            _, by_host_ns, by_gpu_ns = self._between_marks(_nothing, ())
            more_ns.append(by_host_ns - by_gpu_ns)
        self._marking_ns = max(sorted(more_ns)[int(_MOST_EMPTY_CALLS * _EMPTY_CALLS) - 1], 0)

    def _flush(self) -> None:
        if self._flusher is None:
            self._flusher = Flusher(self._driver, self._driver.l2_bytes)
        self._flusher.flush()

    def _synchronize(self) -> None:
        # The author may have made another context current: then we would wait for that one.
        self._driver.enter()
        self._driver.do("cuCtxSynchronize")


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
        library = _loaded_library("libamdhip64")
        self._hip = ctypes.CDLL(library)
        self.driver = _sharing(library, number)
        self._synchronize = torch.cuda.synchronize
        self._clock = time.perf_counter_ns
        self.begun_ns = 0

    @property
    def nothing(self) -> Callable[[], Any] | None:
        """None."""
        return None

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

    def fault(self) -> int:
        """-1 if waiting fails: torch doesn't tell the code."""
        try:
            self._synchronize()
        except RuntimeError:
            return -1
        return 0


def find_library(vendor: Vendor) -> str | None:
    """The driver's library for a vendor; None for a CPU."""
    if vendor is Vendor.NVIDIA:
        return "libcuda.so.1"
    return _loaded_library("libamdhip64") if vendor is Vendor.AMD else None


def open_driver(number: int = 0, *, alone: bool = True) -> Driver:
    """The driver of this machine's GPUs, without a framework; `alone` as of `Driver`. Raises
    `GpuError`."""
    try:
        return Driver(number=number, alone=alone)
    except GpuError as error:
        try:
            return HipDriver(_loaded_library("libamdhip64"), number, alone=alone)
        except GpuError:
            raise error from None


def _sharing(library: str, number: int) -> Driver | None:
    try:
        driver = HipDriver(library, number)
    except GpuError:
        return None
    return driver if driver.has_virtual_memory() else None


def _nothing() -> None:
    """No work."""


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
