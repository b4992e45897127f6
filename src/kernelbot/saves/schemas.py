"""What `kernelbot dev --json` prints: one object per save."""

from pydantic import BaseModel, Field

from kernelbot.protocol import CaseResult, Fault, Verdict
from kernelbot.saves.comparing import Answer
from kernelbot.saves.model import Beside, Save, Timed


class BesideView(BaseModel):
    """A median beside an earlier one."""

    answer: Answer
    ratio: float = Field(description="The new median over the earlier one; below 1 is faster.")

    @classmethod
    def of(cls, beside: Beside | None) -> "BesideView | None":
        """None if there is nothing to compare with."""
        return None if beside is None else cls(answer=beside.answer, ratio=beside.ratio)


class TimedView(BaseModel):
    """One workload. `best`, `last`: beside the best and the latest save of the session."""

    spec: str
    median_ns: float
    ci95_ns: tuple[float, float]
    samples: int
    best: BesideView | None
    last: BesideView | None

    @classmethod
    def of(cls, timed: Timed) -> "TimedView":
        """Without the samples themselves."""
        load = timed.workload
        return cls(
            spec=load.spec,
            median_ns=load.median_ns,
            ci95_ns=load.ci95_ns,
            samples=len(load.samples_ns),
            best=BesideView.of(timed.best),
            last=BesideView.of(timed.last),
        )


class CaseView(BaseModel):
    """A test case that failed."""

    spec: str
    verdict: Verdict
    message: str

    @classmethod
    def of(cls, case: CaseResult) -> "CaseView":
        """All of it."""
        return cls(spec=case.spec, verdict=case.verdict, message=case.message)


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
    first_failing: CaseView | None
    message: str = Field(description="Why it wasn't accepted.")
    compiler: str
    stdout: str
    stderr: str
    workloads: list[TimedView]

    @classmethod
    def of(cls, save: Save) -> "SaveView":
        """All of it but the samples."""
        result, failing = save.result, save.first_failing
        failure = result.failure if result else None
        return cls(
            save=save.number,
            version=save.version,
            sha256=save.sha256,
            verdict=result.verdict if result else None,
            fault=failure.fault if failure else None,
            trouble=save.trouble,
            tests_s=save.tests_s,
            score_s=result.score_s if result else None,
            first_failing=None if failing is None else CaseView.of(failing),
            message=failure.message if failure else "",
            compiler=result.compile.output if result and result.compile else "",
            stdout=result.stdout if result else "",
            stderr=result.stderr if result else "",
            workloads=[TimedView.of(timed) for timed in save.workloads],
        )
