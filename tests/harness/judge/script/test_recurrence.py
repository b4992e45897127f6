"""Data that a script's generator makes again, found by asking it in a sandbox of its own."""

from dataclasses import replace

import pytest

from kernelbot.harness.judge.collected import Collected
from kernelbot.harness.judge.script.judge import judge_script
from kernelbot.harness.sandbox import RunnerClient
from kernelbot.protocol import (
    BuildConfig,
    Case,
    Fault,
    HarnessKind,
    JobSpec,
    Mode,
    Phase,
    ProblemSpec,
    SourceFile,
)
from tests.harness.jobs import REFERENCE, SORT, a_job, a_problem

_EVAL = """
import os, sys
def log(key, value):
    os.write(int(os.environ["POPCORN_FD"]), f"{key}: {value}\\n".encode())
kind = "test" if sys.argv[1] == "test" else "benchmark"
cases = open(sys.argv[2]).read().splitlines()
log(f"{kind}-count", len(cases))
for i, case in enumerate(cases):
    log(f"{kind}.{i}.spec", case)
    log(f"{kind}.{i}.status", "pass")
    if kind == "benchmark":
        for key, value in dict(runs=3, mean=1000.0, err=1).items():
            log(f"benchmark.{i}.{key}", value)
log("check", "pass")
"""
_FEW = REFERENCE.replace("default_rng(seed)", "default_rng(seed % 2)")
_SAID = "generate_input makes the same data again, with other seeds too (size: 2000; seed: 1)"


def _problem(reference: str | None) -> ProblemSpec:
    files = [SourceFile("eval.py", _EVAL)]
    files += [SourceFile("reference.py", reference)] if reference is not None else []
    return replace(
        a_problem(),
        harness=HarnessKind.SCRIPT,
        files=tuple(files),
        config=BuildConfig(main="eval.py"),
        benchmarks=a_problem().benchmarks[:1],
    )


def _judged(client: RunnerClient, problem: ProblemSpec, mode: Mode) -> Collected:
    job: JobSpec = replace(a_job(SORT, mode=mode, problem=problem), secret=mode is Mode.LEADERBOARD)
    return judge_script(job, client, lambda _event: None)


@pytest.mark.exhaustive  # each run has test_of_others_nothing_is_said
def test_a_benchmark_notes_it(client: RunnerClient) -> None:
    found = _judged(client, _problem(_FEW), Mode.BENCHMARK)
    assert found.recurring_data.startswith(_SAID)
    assert ([found.recurring_data], None) == (found.notes, found.refusal)
    assert [Phase.TEST, Phase.BENCHMARK] == [phase.phase for phase in found.phases]


def test_a_ranked_run_is_not_timed(client: RunnerClient) -> None:
    found = _judged(client, _problem(_FEW), Mode.LEADERBOARD)
    assert found.refusal is not None
    assert (Fault.PLATFORM, found.recurring_data) == (
        found.refusal.failure.fault,
        found.refusal.failure.message,
    )
    assert [Phase.TEST] == [phase.phase for phase in found.phases]


def test_tests_ask_nothing(client: RunnerClient) -> None:
    found = _judged(client, _problem(_FEW), Mode.TEST)
    assert ("", False) == (found.recurring_data, "generate" in found.timings)


def test_a_workload_without_a_seed_recurs(client: RunnerClient) -> None:
    problem = _problem(REFERENCE.replace("(size, seed)", "(size, seed=7)"))
    problem = replace(problem, benchmarks=(Case({"size": 2000}),))
    assert "(size: 2000)" in _judged(client, problem, Mode.BENCHMARK).recurring_data


@pytest.mark.parametrize(
    "problem",
    [
        _problem(REFERENCE),
        replace(_problem(_FEW), recurring_data=True),
        _problem(None),
        _problem(_FEW.replace("return np.random", "return 1 / 0 + np.random")),
        _problem(_FEW.replace("import numpy as np", "import nowhere")),
        _problem(_FEW.replace("import numpy as np", "import os; os._exit(3)")),
    ],
    ids=["new data", "known", "no generator", "raises", "no module", "exits"],
)
def test_of_others_nothing_is_said(client: RunnerClient, problem: ProblemSpec) -> None:
    found = _judged(client, problem, Mode.LEADERBOARD)
    assert ("", None) == (found.recurring_data, found.refusal)
    assert [Phase.TEST, Phase.LEADERBOARD] == [phase.phase for phase in found.phases]
