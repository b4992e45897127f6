"""Expected figures are those of NVIDIA's occupancy calculator, and of LLVM for AMD."""

import pytest

from kernelbot.preflight.gpus import LIMITS
from kernelbot.preflight.model import Bound, Figures, Occupancy
from kernelbot.preflight.occupancy import occupancy


@pytest.mark.parametrize(
    ("arch", "registers", "shared_bytes", "threads", "blocks", "share", "bound"),
    [
        ("80", 32, 0, 256, 8, 1.0, Bound.THREADS),
        ("90a", 64, 0, 256, 4, 0.5, Bound.REGISTERS),
        ("90a", 255, 0, 256, 1, 0.125, Bound.REGISTERS),
        ("90a", 73, 0, 128, 6, 0.375, Bound.REGISTERS),
        ("90a", 168, 0, 384, 1, 0.1875, Bound.REGISTERS),
        ("90a", 16, 227 * 1024, 256, 1, 0.125, Bound.SHARED_MEMORY),
        ("90a", 16, 48 * 1024, 256, 4, 0.5, Bound.SHARED_MEMORY),
        ("90a", 16, 0, 32, 32, 0.5, Bound.BLOCKS),
        ("90a", 16, 0, 1, 32, 0.5, Bound.BLOCKS),
        ("89", 16, 0, 1024, 1, 2 / 3, Bound.THREADS),
        ("75", 32, 32 * 1024, 128, 2, 0.25, Bound.SHARED_MEMORY),
        ("75", 16, 0, 1024, 1, 1.0, Bound.THREADS),
        ("gfx942", 128, 0, 256, 4, 0.5, Bound.REGISTERS),
        ("gfx942", 32, 32 * 1024, 256, 2, 0.25, Bound.SHARED_MEMORY),
        ("gfx942", 32, 0, 64, 32, 1.0, Bound.THREADS),
        ("gfx942", 512, 0, 64, 4, 0.125, Bound.REGISTERS),
        ("gfx950", 8, 0, 65, 16, 1.0, Bound.THREADS),
        ("gfx942", 32, 2048, 64, 32, 1.0, Bound.THREADS),
        ("gfx942", 32, 2049, 64, 25, 25 / 32, Bound.SHARED_MEMORY),
        ("75", 16, 0, 32, 16, 0.5, Bound.BLOCKS),
        ("75", 0, 0, 64, 16, 1.0, Bound.THREADS),
        ("75", 0, 4096, 32, 16, 0.5, Bound.BLOCKS),
        ("90a", 0, 0, 32, 32, 0.5, Bound.BLOCKS),
        ("gfx950", 32, 40 * 1024, 256, 4, 0.5, Bound.SHARED_MEMORY),
        ("gfx950", 32, 40 * 1024 + 1, 256, 3, 0.375, Bound.SHARED_MEMORY),
    ],
)
def test_how_many_blocks_have_room(
    arch: str,
    registers: int,
    shared_bytes: int,
    threads: int,
    blocks: int,
    share: float,
    bound: Bound,
) -> None:
    figures = Figures("k", registers=registers, shared_bytes=shared_bytes)
    found = occupancy(LIMITS[arch], figures, threads)
    assert found is not None
    assert (blocks, bound) == (found.blocks, found.limited_by)
    assert share == pytest.approx(found.warps_share)


@pytest.mark.parametrize(
    ("arch", "scalar", "blocks", "bound"),
    [
        ("gfx942", 100, 8, Bound.THREADS),
        ("gfx942", 102, 7, Bound.SCALAR_REGISTERS),
        ("gfx950", 112, 7, Bound.SCALAR_REGISTERS),
        ("90a", 112, 8, Bound.THREADS),
    ],
)
def test_scalar_registers_bound_warps_as_in_llvm(
    arch: str, scalar: int, blocks: int, bound: Bound
) -> None:
    """Its `getOccupancyWithNumSGPRs` has 8 for up to 100 of them, and 7 for more."""
    figures = Figures("k", registers=32, shared_bytes=0, scalar_registers=scalar)
    found = occupancy(LIMITS[arch], figures, 256)
    assert found is not None
    assert (blocks, bound) == (found.blocks, found.limited_by)


@pytest.mark.parametrize(
    ("figures", "threads", "bound"),
    [
        (Figures("k", registers=255, shared_bytes=0), 1024, Bound.REGISTERS),
        (Figures("k", registers=256, shared_bytes=0), 32, Bound.REGISTERS),
        (Figures("k", registers=16, shared_bytes=227 * 1024 + 1), 32, Bound.SHARED_MEMORY),
    ],
)
def test_a_block_that_has_no_room(figures: Figures, threads: int, bound: Bound) -> None:
    assert Occupancy(threads, 0, 0.0, bound) == occupancy(LIMITS["90a"], figures, threads)


@pytest.mark.parametrize(
    ("figures", "threads"),
    [
        (Figures("k"), 256),
        (Figures("k", registers=16), 256),
        (Figures("k", registers=16, shared_bytes=0), 2048),
        (Figures("k", registers=16, shared_bytes=0), 0),
    ],
)
def test_nothing_is_said_if_too_little_is_known(figures: Figures, threads: int) -> None:
    assert occupancy(LIMITS["90a"], figures, threads) is None
