"""What a submission's page shows of what compilers said."""

from dataclasses import dataclass

from kernelbot.preflight.kernel_table import KernelTable, kernel_table, never_launched
from kernelbot.preflight.model import Diagnostic, Preflight, PreflightReport


@dataclass(frozen=True)
class ShownDiagnostic:
    """An error or a warning; `place` is empty if the compiler named none."""

    found: Diagnostic
    place: str


@dataclass(frozen=True)
class ShownPreflight:
    """What compilers said for one GPU. `never_launched`: a sentence for each such kernel."""

    report: PreflightReport
    table: KernelTable
    diagnostics: tuple[ShownDiagnostic, ...]
    never_launched: tuple[str, ...]


def shown_preflight(preflight: Preflight) -> ShownPreflight:
    """One report as a table."""
    report = preflight.report
    return ShownPreflight(
        report,
        kernel_table(preflight),
        tuple(ShownDiagnostic(one, _position_text(one)) for one in report.diagnostics),
        never_launched(report),
    )


def _position_text(found: Diagnostic) -> str:
    numbers = [str(number) for number in (found.line, found.column) if number is not None]
    return ":".join([found.file, *numbers] if found.file else numbers)
