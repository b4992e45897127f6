"""Reports of compilers, and submissions that have one."""

from kernelbot.preflight.model import (
    Bound,
    Diagnostic,
    Figures,
    Kernel,
    Occupancy,
    Preflight,
    PreflightOutcome,
    PreflightReport,
    Severity,
)
from kernelbot.submissions.model import Submission
from kernelbot.submissions.preflights import store as preflights
from tests.support.world import World

HOSTILE = "<script>alert(1)</script>\u202e"


def report_of(registers: int = 40, name: str = "add", gpu: str = "H100") -> PreflightReport:
    """One kernel without spills, and a warning."""
    kernel = Kernel(Figures(name, registers, 0, 0, 1024), Occupancy(256, 6, 0.75, Bound.REGISTERS))
    warning = Diagnostic(Severity.WARNING, "never used", "submission.cu", 3, 7)
    return PreflightReport(
        gpu, "90a", PreflightOutcome.COMPILED, (kernel,), (warning,), duration_s=2.0
    )


def mi300x_report(registers: int = 128, spills: int = 0) -> PreflightReport:
    """Two kernels with all that compilers say of AMD's GPUs: one spills, and one can't be
    launched."""
    tiles = Figures(
        "_Z16scaled_mm_kernelILi256ELi128EEvPK14__hip_fp8_fnuzS2_PKfS4_P14__hip_bfloat16iii",
        *(registers, spills, 2 * spills, 65536, 256, 2),
        accumulation_registers=64,
        scalar_registers=102,
    )
    scan = Figures("scan", 16, 0, 0, 98304, accumulation_registers=0, scalar_registers=22)
    kernels = (
        Kernel(tiles, Occupancy(256, 1, 0.125, Bound.SHARED_MEMORY), times=3),
        Kernel(scan, Occupancy(256, 0, 0.0, Bound.SHARED_MEMORY)),
    )
    return PreflightReport("MI300X", "gfx942", PreflightOutcome.COMPILED, kernels, duration_s=2.0)


REFUSED = PreflightReport(
    "H100",
    "90a",
    PreflightOutcome.REFUSED,
    diagnostics=(Diagnostic(Severity.ERROR, 'identifier "foo" is undefined', "submission.cu", 3),),
)
PREFLIGHT = Preflight(report_of(64), report_of(40))


async def compiled(
    world: World, content: bytes, report: PreflightReport, device: str = "H100"
) -> Submission:
    """A submission of ada's to the board of sorting, with a report."""
    sent = await world.submit(content=content, devices=(device,))
    async with world.database.write() as session:
        await preflights.keep(session, sent.id, device, report)
    return sent
