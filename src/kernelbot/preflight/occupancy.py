"""How many blocks of a kernel one multiprocessor holds at once, by its published limits."""

from kernelbot.preflight.gpus import Limits
from kernelbot.preflight.model import Bound, Figures, Occupancy


def occupancy(limits: Limits, figures: Figures, threads: int) -> Occupancy | None:
    """Of blocks of `threads`; None if registers or shared memory aren't known, or no block has so
    many threads."""
    registers, shared_bytes = figures.registers, figures.shared_bytes
    if registers is None or shared_bytes is None or not 0 < threads <= limits.block_threads:
        return None
    warps = -(-threads // limits.warp_threads)
    most = {
        Bound.REGISTERS: _by_registers(limits, registers, warps),
        Bound.SHARED_MEMORY: _by_shared_memory(limits, shared_bytes),
        Bound.THREADS: limits.warps // warps,
        Bound.BLOCKS: limits.blocks,
    }
    bound = min(most, key=lambda one: most[one])
    return Occupancy(threads, most[bound], most[bound] * warps / limits.warps, bound)


def _by_registers(limits: Limits, registers: int, warps: int) -> int:
    if registers > limits.thread_registers:
        return 0
    if registers == 0:
        return limits.blocks
    needed = _round_up(registers * limits.warp_threads, limits.warp_registers)
    return limits.registers // needed * limits.parts // warps


def _by_shared_memory(limits: Limits, shared_bytes: int) -> int:
    if shared_bytes > limits.block_shared_bytes:
        return 0
    needed = _round_up(shared_bytes + limits.reserved_shared_bytes, limits.shared_unit_bytes)
    return limits.shared_bytes // needed if needed else limits.blocks


def _round_up(size: int, unit: int) -> int:
    return -(-size // unit) * unit
