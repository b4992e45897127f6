"""How many blocks of a kernel one multiprocessor holds at once, by its published limits."""

from kernelbot.preflight.gpus import MultiprocessorLimits
from kernelbot.preflight.model import Bound, Figures, Occupancy


def occupancy(limits: MultiprocessorLimits, figures: Figures, threads: int) -> Occupancy | None:
    """How many blocks of `threads` have room. What the kernel doesn't use limits nothing. If bounds
    are alike, the first of threads, blocks, registers, scalar registers and shared memory is named.
    None if registers or shared memory aren't known, or no block has so many threads."""
    registers, shared_bytes = figures.registers, figures.shared_bytes
    if registers is None or shared_bytes is None or not 0 < threads <= limits.block_threads:
        return None
    warps = -(-threads // limits.warp_threads)
    most = {
        Bound.THREADS: limits.warps // warps,
        Bound.BLOCKS: limits.one_warp_blocks if warps == 1 else limits.blocks,
    }
    if registers:
        most[Bound.REGISTERS] = _by_registers(limits, registers, warps)
    if figures.scalar_registers and limits.scalar_registers:
        most[Bound.SCALAR_REGISTERS] = (
            limits.scalar_registers // figures.scalar_registers * limits.parts // warps
        )
    if shared_bytes:
        most[Bound.SHARED_MEMORY] = _by_shared_memory(limits, shared_bytes)
    bound = min(most, key=lambda one: most[one])  # the first of those that are alike
    return Occupancy(threads, most[bound], most[bound] * warps / limits.warps, bound)


def _by_registers(limits: MultiprocessorLimits, registers: int, warps: int) -> int:
    if registers > limits.thread_registers:
        return 0
    needed = _round_up(registers * limits.warp_threads, limits.warp_registers)
    return limits.registers // needed * limits.parts // warps


def _by_shared_memory(limits: MultiprocessorLimits, shared_bytes: int) -> int:
    if shared_bytes > limits.block_shared_bytes:
        return 0
    needed = _round_up(shared_bytes + limits.reserved_shared_bytes, limits.shared_unit_bytes)
    return limits.shared_bytes // needed


def _round_up(size: int, unit: int) -> int:
    return -(-size // unit) * unit
