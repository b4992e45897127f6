"""Results to render."""

from dataclasses import replace

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
    system=SystemInfo("CPU", "a processor", "Linux", "3.11"),
    sandbox=SandboxReport("bubblewrap"),
    score_s=0.0011,
    score_ci95_s=(0.001, 0.0012),
    phases=(
        PhaseResult(
            Phase.TEST, Verdict.ACCEPTED, 0.5, cases=(CaseResult("size: 1", Verdict.ACCEPTED),)
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
                CaseResult("size: 1", Verdict.ACCEPTED),
                CaseResult("size: 2", Verdict.WRONG_ANSWER, "element 1 is 5, not 6"),
            ),
        ),
    ),
    stdout="hello\n",
    failure=Failure(Fault.AUTHOR, "1 of 2 tests failed."),
    compile=CompileReport("g++ a.cpp", "a warning\n", 0.2, False, ({"name": "k", "regs": "32"},)),
)
