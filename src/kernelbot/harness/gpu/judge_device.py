"""What the judge has of a device: memory for data and outputs, and the flush of its cache.

The judge is forked from a zygote that has never touched the driver, so it may make a context of its
own. Nothing of an author's or a problem's code runs in it.
"""

import ctypes
import os
import time
from dataclasses import dataclass

from kernelbot.harness.inside.gpu.arena import Arena, ArenaPiece, ArenaPool, cleared
from kernelbot.harness.inside.gpu.driver import DeviceFull, Driver, GpuError, shares_memory
from kernelbot.harness.inside.gpu.timing import Flusher, cache_bytes, find_library, open_driver
from kernelbot.harness.words.plan import Plan
from kernelbot.harness.words.sandbox import SandboxUnavailable
from kernelbot.protocol import JobSpec, Vendor

_PAUSE_S = 0.005
_COMPARED_BYTES = 64 << 20
_TRIED = b"\x5a" * 4096
STAGED_NOTE = (
    "Data and outputs passed the host's memory on their way, so calls cost more and samples are "
    "fewer"
)


@dataclass(frozen=True)
class JudgeDevice:
    """The judge's own context, and its memory there."""

    driver: Driver
    pool: ArenaPool
    flusher: Flusher

    def has_room(self, size_bytes: int, patience_s: float) -> bool:
        """Whether so much memory can be had, at the latest after `patience_s`. Raises
        `GpuError`."""
        deadline = time.monotonic() + patience_s
        while True:
            try:
                Arena.create(self.driver, size_bytes).close()
                return True
            except DeviceFull:
                if time.monotonic() >= deadline:
                    return False
            time.sleep(_PAUSE_S)

    def expect_same_gpu(self, identity: object) -> None:
        """`identity`: of the GPU that a runner computes on. Raises `SandboxUnavailable` if it isn't
        this one."""
        mine = self.driver.identity()
        if identity != mine:
            raise SandboxUnavailable(
                f"The judge's GPU has the UUID {mine or '(none)'}, and its runner's {identity}: "
                "both must find the same one first. Set CUDA_VISIBLE_DEVICES (on AMD "
                "ROCR_VISIBLE_DEVICES) to the UUID of one GPU for whoever judges."
            )

    def expect_sound(self) -> None:
        """Try our own context: whatever an author's does, it computes and copies. Raises
        `GpuError` if it doesn't."""
        try:
            arena = cleared(self.driver, len(_TRIED))
        except DeviceFull:  # whoever has all of its memory, it answers
            return
        try:
            self.driver.fill(arena.address, _TRIED[0], len(_TRIED))
            if self.content(arena.address, len(_TRIED)) != _TRIED:
                raise GpuError("it doesn't keep what is written to its memory")
        finally:
            arena.close()

    def are_alike(self, one: ArenaPiece, other: ArenaPiece) -> bool:
        """Whether two pieces have the same content. Raises `GpuError`."""
        return one.size_bytes == other.size_bytes and self.content_is(
            one.address, other.address, one.size_bytes
        )

    def content_is(self, address: int, expected: int, size_bytes: int) -> bool:
        """Whether two stretches of the device's memory have the same content. Compares on the
        host, so it is for few calls. Raises `GpuError`."""
        step = min(size_bytes, _COMPARED_BYTES)
        for start in range(0, size_bytes, _COMPARED_BYTES):
            length = min(step, size_bytes - start)
            if self.content(address + start, length) != self.content(expected + start, length):
                return False
        return True

    def content(self, address: int, size_bytes: int) -> bytes:
        """A copy in the host's memory. Raises `GpuError`."""
        held = ctypes.create_string_buffer(max(size_bytes, 1))
        self.driver.download(ctypes.addressof(held), address, size_bytes)
        return held.raw[:size_bytes]


def has_arenas(job: JobSpec) -> bool:
    """Whether a job's data and outputs can lie in memory of the judge's, as far as that can be told
    without touching the GPU."""
    if job.device.vendor is Vendor.CPU:
        return False
    library = find_library(job.device.vendor)
    return library is not None and shares_memory(library)


def open_ahead(vendor: Vendor) -> Driver | None:
    """The driver with a context, which takes some tenths of a second, before there is a job; None
    if there is nothing to open, or it can't be opened now: the job will say why."""
    library = find_library(vendor)
    if library is None or not shares_memory(library):
        return None
    try:
        return open_driver(vendor=vendor)
    except GpuError:
        return None


def open_judge_devices(
    plan: Plan, driver: Driver | None = None
) -> tuple[tuple[JudgeDevice, ...], str]:
    """The judge's devices for a job, one for each of its ranks, the first with `driver` if that
    was opened ahead; if there are none, why data takes the way through the host: for the result's
    notes, empty if the job is for a CPU."""
    if not plan.on_gpu:
        return (), ""
    if not plan.in_arenas:
        return (), f"{STAGED_NOTE}: the driver can't share memory between processes."
    try:
        vendor = plan.job.device.vendor
        if plan.most_ranks > 1:
            ranks = [open_driver(n, alone=False, vendor=vendor) for n in range(plan.most_ranks)]
            return tuple(map(_opened, ranks)), ""
        driver = driver or open_driver(vendor=vendor)
        driver.enter()  # other devices may have been made ready since
        return (_opened(driver),), ""
    except GpuError as error:
        return (), f"{STAGED_NOTE}: {error}."


def with_cache_size(plan: Plan, devices: tuple[JudgeDevice, ...]) -> Plan:
    """The same plan, whose device has the cache that its driver tells of, unless configured."""
    return plan.with_cache_bytes(cache_bytes(devices[0].driver)) if devices else plan


def _opened(driver: Driver) -> JudgeDevice:
    """Raises `GpuError` also if memory can't be shared here, whatever functions the driver has."""
    tried = Arena.create(driver, 1)
    try:
        os.close(tried.export())
    finally:
        tried.close()
    return JudgeDevice(driver, ArenaPool(driver), Flusher(driver, cache_bytes(driver)))
