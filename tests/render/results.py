"""Results to render."""

from dataclasses import replace
from datetime import UTC, datetime

from kernelbot.domain.states import RunState, SubmissionState
from kernelbot.protocol import (
    CaseResult,
    CompileReport,
    Failure,
    Fault,
    HarnessKind,
    Mode,
    Phase,
    PhaseResult,
    RunResult,
    SandboxReport,
    SystemInfo,
    Verdict,
    WorkloadResult,
)
from kernelbot.runs.model import Run
from kernelbot.submissions.model import Submission

AT = datetime(2026, 1, 1, tzinfo=UTC)


def judged(result: RunResult) -> Submission:
    """A finished submission of ada's to `sort`, whose one run, public and on a CPU, ended so."""
    run = Run(
        id=7,
        submission_id=1,
        device="CPU",
        mode=result.mode,
        secret=False,
        state=RunState.FINISHED,
        verdict=result.verdict,
        score_s=result.score_s,
        attempts=1,
        created_at=AT,
        started_at=AT,
        finished_at=AT,
        fault=result.failure.fault if result.failure else None,
        message=result.failure.message if result.failure else None,
        result=result,
    )
    return Submission(
        id=1,
        board_id=1,
        board="sort",
        author="ada",
        author_id=1,
        file_name="a.py",
        mode=Mode.LEADERBOARD,
        created_at=AT,
        state=SubmissionState.FINISHED,
        verdict=result.verdict,
        score_s=result.score_s,
        place=None,
        runs=(run,),
        code="pass\n",
    )


WORKLOAD = WorkloadResult(
    spec="size: 1024; seed: 7",
    samples_ns=(1_000_000.0, 1_100_000.0, 1_200_000.0),
    median_ns=1_100_000.0,
    mean_ns=1_100_000.0,
    stdev_ns=100_000.0,
    ci95_ns=(1_000_000.0, 1_200_000.0),
    best_ns=1_000_000.0,
    worst_ns=1_200_000.0,
    stopped_by="wall_cap",
)

ACCEPTED = RunResult(
    job_id="1",
    problem="sort_np",
    mode=Mode.LEADERBOARD,
    harness=HarnessKind.NATIVE,
    verdict=Verdict.ACCEPTED,
    system=SystemInfo("CPU", "a processor", "Linux", "3.11", None),
    sandbox=SandboxReport("bubblewrap", (), ()),
    score_s=0.0011,
    score_ci95_s=(0.001, 0.0012),
    phases=(
        PhaseResult(
            Phase.TEST, Verdict.ACCEPTED, 0.5, cases=(CaseResult("size: 1", Verdict.ACCEPTED, ""),)
        ),
        PhaseResult(Phase.LEADERBOARD, Verdict.ACCEPTED, 1.5, workloads=(WORKLOAD,)),
    ),
)

WRONG = replace(
    ACCEPTED,
    mode=Mode.TEST,
    verdict=Verdict.WRONG_ANSWER,
    score_s=None,
    score_ci95_s=None,
    phases=(
        PhaseResult(
            Phase.TEST,
            Verdict.WRONG_ANSWER,
            0.25,
            cases=(
                CaseResult("size: 1", Verdict.ACCEPTED, ""),
                CaseResult("size: 2", Verdict.WRONG_ANSWER, "element 1 is 5, not 6"),
            ),
        ),
    ),
    stdout="hello\n",
    failure=Failure(Fault.AUTHOR, "1 of 2 tests failed."),
    compile=CompileReport("g++ a.cpp", "a warning\n", 0.2, False, ({"name": "k", "regs": "32"},)),
)
