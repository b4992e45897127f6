"""A GPU made ready for the next job, before anything of a problem's or an author's runs on it: its
clock is set, and memory that an earlier job left is overwritten.

This is done before a job and not after one, because whatever ended the job before may have ended
its judge as well. CUDA doesn't promise that memory which a process gets was never another's.
"""

import time
from collections.abc import Iterator

from kernelbot.harness.gpu.clock_rates import set_clock
from kernelbot.harness.gpu.nodes import assigned_gpus
from kernelbot.harness.inside.gpu.driver import DeviceFull, Driver, GpuError, NoDriver
from kernelbot.harness.inside.gpu.timing import open_driver
from kernelbot.protocol import DeviceSpec, Vendor

_LIMIT_S = 20.0
_LEAST_BYTES = 2 << 20
"""Drivers give memory out in pages of this size."""
_CONTEXTS_BYTES = 4 << 30
"""More than this isn't the contexts of this machine's own processes."""
_STEP_S = 0.002


def make_ready(device: DeviceSpec, *, kept: int = 0, gpus: int | None = None) -> Iterator[str]:
    """Set the clocks of a job's GPUs as its device says, and overwrite their free memory with
    zeros: the first `gpus` of those that this process may use; None: all. Yields what a person
    should know of it.

    To be called by whoever holds the GPUs, in a process that forks no more. `kept`: it will use so
    many of the first GPUs itself, so their contexts are kept. Raises `GpuError` if a GPU isn't
    ready within 20 s.
    """
    if device.vendor is Vendor.CPU:
        return
    if device.clock_mhz is not None:
        _set_clocks(device.vendor, device.clock_mhz, gpus)
    deadline = time.monotonic() + _LIMIT_S
    number, count = 0, 1
    while number < count:
        try:
            driver = open_driver(number, vendor=device.vendor)
        except NoDriver as error:
            yield f"What earlier jobs left in the GPU's memory wasn't overwritten: {error}"
            return
        try:
            count = driver.count() if gpus is None else min(driver.count(), gpus)
            yield from _cleared(driver, deadline)
        finally:
            if number >= kept:
                driver.close()
        number += 1


def _set_clocks(vendor: Vendor, mhz: int, most: int | None) -> None:
    found = assigned_gpus(vendor, most=most).gpus
    if not found:
        raise GpuError("its clock can't be set: there is no GPU's file in /dev")
    for gpu in found:
        set_clock(vendor, gpu, mhz)


def _cleared(driver: Driver, deadline: float) -> Iterator[str]:
    if not driver.has_own_memory():
        yield (  # to take all of it would leave the machine none
            f"GPU {driver.number} computes with the machine's memory, of which nothing was "
            "overwritten: an earlier job's data may be found there"
        )
        return
    clear_memory(driver, deadline)
    free, total = driver.memory_bytes()
    if total - free > _CONTEXTS_BYTES:
        used = (total - free) / (1 << 30)
        yield (
            f"Other processes use {used:.1f} GiB of GPU {driver.number}'s memory, which can't be "
            "overwritten and isn't free for the job"
        )


def clear_memory(driver: Driver, deadline: float) -> int:
    """Overwrite all memory that nobody uses with zeros; how many bytes that was. Again if more has
    become free meanwhile: a process that was killed gives its memory back late.

    A driver hands out a little less than what it calls free. Raises `GpuError` if that is less than
    half, or if it isn't done by `deadline` (of `time.monotonic`).
    """
    while True:
        free = driver.free_bytes()
        cleared = _overwrite_free(driver, deadline)
        if cleared < _whole_pages(free) // 2:
            raise GpuError(f"of {free} bytes of its free memory only {cleared} can be overwritten")
        if driver.free_bytes() <= free:
            return cleared


def _overwrite_free(driver: Driver, deadline: float) -> int:
    pieces: dict[int, int] = {}
    try:
        size = _whole_pages(driver.memory_bytes()[0])
        while size >= _LEAST_BYTES:
            _expect_time(deadline)
            try:
                address = driver.allocate(size)
            except DeviceFull:  # it isn't in one piece
                size = _whole_pages(size // 2)
                continue
            pieces[address] = size
            driver.fill(address, 0, size)
            size = min(size, _whole_pages(driver.memory_bytes()[0]))
        while not driver.is_done():
            _expect_time(deadline)
            time.sleep(_STEP_S)
    finally:
        for address in pieces:
            driver.release(address)
    return sum(pieces.values())


def _whole_pages(size_bytes: int) -> int:
    return size_bytes // _LEAST_BYTES * _LEAST_BYTES


def _expect_time(deadline: float) -> None:
    if time.monotonic() >= deadline:
        raise GpuError("its memory couldn't be overwritten in time; another program may use it")
