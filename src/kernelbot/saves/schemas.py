"""What `kernelbot dev --json` prints: one object per save."""

from pydantic import BaseModel, Field

from kernelbot.domain.values import from_fields
from kernelbot.preflight.model import Diagnostic
from kernelbot.protocol import CaseResult, Fault, Verdict, to_wire
from kernelbot.saves.model import MedianChange, Save, SavedWorkload


class TimedView(BaseModel):
    """One workload. `best`, `last`: beside the best and the latest save of the session."""

    spec: str
    median_ns: float
    ci95_ns: tuple[float, float]
    samples: int
    best: MedianChange | None
    last: MedianChange | None

    @classmethod
    def from_domain(cls, timed: SavedWorkload) -> "TimedView":
        """Without the samples themselves."""
        load = timed.workload
        return from_fields(cls, load, timed, samples=len(load.samples_ns))


class SaveView(BaseModel):
    """One save. `verdict` null: it has none, and `trouble` says why."""

    save: int
    version: int | None
    sha256: str | None
    verdict: Verdict | None
    fault: Fault | None
    trouble: str
    tests_s: float | None = Field(description="From the save to the verdict of the tests.")
    score_s: float | None
    first_failing: CaseResult | None
    message: str = Field(description="Why it wasn't accepted.")
    diagnostics: list[Diagnostic] = Field(
        description="Errors and warnings with file, line and column, in the order of lines; both "
        "numbers begin at 1. A column is null if it isn't known."
    )
    compiler: str
    stdout: str
    stderr: str
    notes: list[str] = Field(
        description="How it was judged, such as that the processor ran CUDA kernels, without times."
    )
    workloads: list[TimedView]
    preflights: list[dict[str, object]] = Field(
        description="One for each GPU of `--preflight`, as `kernelbot preflight --json` prints it."
    )

    @classmethod
    def from_domain(cls, save: Save) -> "SaveView":
        """All of it but the samples."""
        result = save.result
        failure = result.failure if result else None
        return from_fields(
            cls,
            save,
            save=save.number,
            verdict=result.verdict if result else None,
            fault=failure.fault if failure else save.fault,
            score_s=result.score_s if result else None,
            first_failing=save.first_failing,
            message=failure.message if failure else "",
            diagnostics=list(save.diagnostics),
            compiler=result.compile.output if result and result.compile else "",
            stdout=result.stdout if result else "",
            stderr=result.stderr if result else "",
            notes=list(result.system.notes) if result else [],
            workloads=[TimedView.from_domain(timed) for timed in save.workloads],
            preflights=[to_wire(one) for one in save.preflights],
        )
