import base64
import dataclasses

import pytest

from kernelbot.harness.judge.collected import Collected
from kernelbot.harness.judge.host_messages import TurnAnswer
from kernelbot.harness.judge.measuring_turn import MeasuringTurn
from kernelbot.harness.judge.script.judge import judge_script
from kernelbot.harness.sandbox import RunnerClient
from kernelbot.protocol import (
    BuildConfig,
    Case,
    DeviceSpec,
    EventKind,
    Fault,
    Floor,
    HarnessKind,
    JobSpec,
    Lang,
    Limits,
    Mode,
    Phase,
    ProblemSpec,
    ProgressEvent,
    RankRule,
    SourceFile,
    Timeouts,
    Vendor,
    Verdict,
)

_EVAL = """
import os, sys
def log(key, value):
    os.write(int(os.environ["POPCORN_FD"]), f"{key}: {value}\\n".encode())
mode, cases = sys.argv[1], open(sys.argv[2]).read().splitlines()
from submission import custom_kernel
kind = "test" if mode == "test" else "benchmark"
log(f"{kind}-count", len(cases))
good = True
for i, case in enumerate(cases):
    log(f"{kind}.{i}.spec", case)
    args = dict(pair.split(": ") for pair in case.split("; "))
    got = custom_kernel(int(args["size"]))
    if got != 2 * int(args["size"]):
        log(f"{kind}.{i}.status", "fail")
        log(f"{kind}.{i}.error", f"expected {2 * int(args['size'])}, got {got}")
        good = False
    elif mode == "test":
        log(f"test.{i}.status", "pass")
    elif mode == "profile":
        log(f"benchmark.{i}.report", "dGFibGU=")
    else:
        seed = os.environ.get("POPCORN_SEED", "none")
        figures = dict(runs=3, mean=1000.0 * (i + 1), err=1, seed=seed, flag=args["flag"])
        for key, value in figures.items():
            log(f"benchmark.{i}.{key}", value)
log("check", "pass" if good else "fail")
sys.exit(0 if good else 112)
"""
_GOOD = "def custom_kernel(size):\n    print('called with', size)\n    return 2 * size\n"


def _job(source: str, mode: Mode = Mode.TEST, script: str = _EVAL) -> JobSpec:
    problem = ProblemSpec(
        name="twice",
        lang=Lang.PY,
        harness=HarnessKind.SCRIPT,
        harness_reason="",
        files=(SourceFile("eval.py", script),),
        submission_name="submission.py",
        config=BuildConfig(main="eval.py"),
        tests=(Case({"size": 3, "flag": True}), Case({"size": 5, "flag": False})),
        benchmarks=(Case({"size": 7, "flag": True}), Case({"size": 9, "flag": False})),
        ranking_by=RankRule.GEOM,
        timeouts=Timeouts(test_s=20, benchmark_s=20, ranked_s=20, compile_s=20),
    )
    return JobSpec(
        job_id="1",
        problem=problem,
        submission=SourceFile("mine.py", source),
        mode=mode,
        device=DeviceSpec("CPU", Vendor.CPU),
        limits=Limits(memory_bytes=1 << 30, output_limit_bytes=1 << 20),
    )


def _judge(client: RunnerClient, job: JobSpec) -> tuple[Collected, list[ProgressEvent]]:
    events: list[ProgressEvent] = []
    return judge_script(job, client, events.append), events


def _last(outcome: Collected) -> tuple[Verdict, str]:
    result = outcome.phases[-1]
    return result.verdict, result.failure.message if result.failure else ""


def _floored(job: JobSpec, *floors: Floor | None, peak_flops: float = 1e9) -> JobSpec:
    """On a device of a billion operations a second: one each ns."""
    device = dataclasses.replace(job.device, peak_flops=peak_flops)
    problem = dataclasses.replace(job.problem, floors=floors)
    return dataclasses.replace(job, device=device, problem=problem)


def test_a_time_below_the_floor_is_refused_with_the_evidence(client: RunnerClient) -> None:
    job = _floored(_job(_GOOD, Mode.BENCHMARK), None, Floor(flops=2001))
    outcome, _ = _judge(client, job)
    result = outcome.phases[-1]
    assert (Phase.BENCHMARK, Verdict.RULE_VIOLATION) == (result.phase, result.verdict)
    assert result.failure is not None
    assert (Fault.AUTHOR, "size: 9; flag: False: median 2.000 us, floor 2.001 us") == (
        result.failure.fault,
        result.failure.evidence,
    )


def test_times_at_their_floors_are_accepted(client: RunnerClient) -> None:
    job = _floored(_job(_GOOD, Mode.BENCHMARK), Floor(flops=1000), Floor(flops=2000))
    assert (Verdict.ACCEPTED, "") == _last(_judge(client, job)[0])


def test_where_only_the_last_workload_counts_its_floor_does(client: RunnerClient) -> None:
    job = _floored(_job(_GOOD, Mode.BENCHMARK), Floor(flops=1), Floor(flops=1001))
    problem = dataclasses.replace(job.problem, ranking_by=RankRule.LAST)
    outcome, _ = _judge(client, dataclasses.replace(job, problem=problem))
    assert Verdict.RULE_VIOLATION is outcome.phases[-1].verdict


@pytest.mark.parametrize("figure", ["nan", "inf", "-inf", "0", "-0.0", "-5", "1e400", "fast"])
def test_an_impossible_time_is_refused_with_the_evidence(client: RunnerClient, figure: str) -> None:
    script = _EVAL.replace("mean=1000.0 * (i + 1)", f"mean='{figure}'")
    outcome, _ = _judge(client, _job(_GOOD, Mode.BENCHMARK, script))
    result = outcome.phases[-1]
    assert Verdict.RULE_VIOLATION is result.verdict
    assert result.failure is not None
    assert f"benchmark.0.mean: {figure}" == result.failure.evidence


def test_a_good_submission_passes_every_phase(client: RunnerClient) -> None:
    outcome, _ = _judge(client, _job(_GOOD, Mode.LEADERBOARD))
    assert [
        (Phase.TEST, Verdict.ACCEPTED),
        (Phase.LEADERBOARD, Verdict.ACCEPTED),
    ] == [(result.phase, result.verdict) for result in outcome.phases]
    assert [1000.0, 2000.0] == [w.median_ns for w in outcome.phases[-1].workloads]
    assert "called with 3\ncalled with 5\n" == outcome.stdout[: len("called with 3\n") * 2]


def test_progress_is_reported_as_it_comes(client: RunnerClient) -> None:
    _, events = _judge(client, _job(_GOOD, Mode.BENCHMARK))
    assert [
        (EventKind.PHASE_STARTED, None),
        (EventKind.CASE, 0),
        (EventKind.CASE, 1),
        (EventKind.PHASE_FINISHED, None),
        (EventKind.PHASE_STARTED, None),
        (EventKind.WORKLOAD, 0),
        (EventKind.WORKLOAD, 1),
        (EventKind.PHASE_FINISHED, None),
    ] == [(event.kind, event.index) for event in events]


def test_secret_runs_get_the_seed_and_tell_no_specs(client: RunnerClient) -> None:
    job = dataclasses.replace(_job(_GOOD, Mode.BENCHMARK), secret=True, seed=1234)
    outcome, events = _judge(client, job)
    assert "1234" == outcome.phases[-1].workloads[0].extra["seed"]
    assert {None} == {event.spec for event in events}


def test_values_are_written_as_python_does(client: RunnerClient) -> None:
    outcome, _ = _judge(client, _job(_GOOD, Mode.BENCHMARK))
    assert ["True", "False"] == [w.extra["flag"] for w in outcome.phases[-1].workloads]


def test_only_the_last_workload_runs_if_only_it_counts(client: RunnerClient) -> None:
    job = _job(_GOOD, Mode.BENCHMARK)
    problem = dataclasses.replace(job.problem, ranking_by=RankRule.LAST)
    outcome, _ = _judge(client, dataclasses.replace(job, problem=problem))
    assert ["size: 9; flag: False"] == [w.spec for w in outcome.phases[-1].workloads]


def test_a_wrong_answer_carries_the_scripts_message(client: RunnerClient) -> None:
    outcome, _ = _judge(client, _job("def custom_kernel(size):\n    return 6\n", Mode.LEADERBOARD))
    assert (Verdict.WRONG_ANSWER, "expected 10, got 6") == _last(outcome)
    assert 1 == len(outcome.phases)
    assert [Verdict.ACCEPTED, Verdict.WRONG_ANSWER] == [
        case.verdict for case in outcome.phases[0].cases
    ]


@pytest.mark.parametrize(
    ("source", "verdict", "words"),
    [
        ("def custom_kernel(size:\n", Verdict.COMPILE_ERROR, "SyntaxError"),
        ("raise KeyError('at import')\n", Verdict.RUNTIME_ERROR, "KeyError: 'at import'"),
        ("import os\nos._exit(0)\n", Verdict.RUNTIME_ERROR, "without `check: pass`"),
        ("import os\nos.kill(os.getpid(), 11)\n", Verdict.RUNTIME_ERROR, "SIGSEGV"),
        ("x = bytearray(1 << 40)\n", Verdict.MEMORY_LIMIT, "MemoryError"),
        ("x = b'1' * (4 << 30)\n", Verdict.MEMORY_LIMIT, "memory"),
        ("while True: print('x' * 1000)\n", Verdict.OUTPUT_LIMIT, "printed more"),
        ("import os\nos._exit(110)\n", Verdict.RUNTIME_ERROR, "A CUDA call failed"),
        ("import os\nos._exit(111)\n", Verdict.RUNTIME_ERROR, "got no result descriptor"),
        ("import sys\nsys.exit(113)\n", Verdict.RUNTIME_ERROR, "can't read their cases"),
    ],
)
def test_other_ends_have_their_verdicts(
    client: RunnerClient, source: str, verdict: Verdict, words: str
) -> None:
    outcome, _ = _judge(client, _job(source))
    result = outcome.phases[-1]
    assert result.failure is not None
    assert (verdict, Fault.AUTHOR) == (result.verdict, result.failure.fault)
    assert words in result.failure.message


def test_a_script_that_does_not_end_is_a_time_limit(client: RunnerClient) -> None:
    job = _job("while True: pass\n")
    problem = dataclasses.replace(job.problem, timeouts=Timeouts(test_s=0.5))
    outcome, _ = _judge(client, dataclasses.replace(job, problem=problem))
    said = "The test phase took longer than its time limit of 0.5 s. Do less"
    verdict, message = _last(outcome)
    assert (Verdict.TIME_LIMIT, said) == (verdict, message[: len(said)])


@pytest.mark.exhaustive  # each run has test_a_good_submission_passes_every_phase
def test_a_script_that_works_too_long_is_told_of_processor_time(client: RunnerClient) -> None:
    job = dataclasses.replace(_job("while True: pass\n"), limits=Limits(cpu_time_s=1.0))
    said = "The submission used more than 1 s of processor time. Compute less"
    verdict, message = _last(_judge(client, job)[0])
    assert (Verdict.TIME_LIMIT, said) == (verdict, message[: len(said)])


def test_a_pass_without_results_is_no_pass(client: RunnerClient) -> None:
    source = "import os\nos.write(int(os.environ['POPCORN_FD']), b'check: pass\\n')\nos._exit(0)\n"
    verdict, message = _last(_judge(client, _job(source))[0])
    assert (Verdict.RUNTIME_ERROR, True) == (verdict, "0 of 2 cases" in message)


def test_an_injected_line_does_not_replace_the_scripts(client: RunnerClient) -> None:
    source = (
        "import atexit, os\n"
        "fd = int(os.environ['POPCORN_FD'])\n"
        "atexit.register(lambda: (os.write(fd, b'benchmark.0.mean: 1\\ncheck: pass\\n')))\n" + _GOOD
    )
    outcome, _ = _judge(client, _job(source, Mode.BENCHMARK))
    assert 1000.0 == outcome.phases[-1].workloads[0].median_ns
    assert "benchmark: benchmark.0.mean was reported twice" in outcome.notes


def test_an_impossible_time_is_a_rule_violation(client: RunnerClient) -> None:
    script = _EVAL.replace("1000.0 * (i + 1)", "-5.0")
    outcome, _ = _judge(client, _job(_GOOD, Mode.BENCHMARK, script))
    verdict, message = _last(outcome)
    assert (Verdict.RULE_VIOLATION, True) == (verdict, "benchmark.0.mean: -5.0" in message)


def test_profile_leaves_one_report_per_case(client: RunnerClient) -> None:
    outcome, _ = _judge(client, _job(_GOOD, Mode.PROFILE))
    assert [("profile.0.txt", b"table"), ("profile.1.txt", b"table")] == [
        (artifact.name, base64.b64decode(artifact.content_base64))
        for artifact in outcome.artifacts.all()
    ]


@pytest.mark.parametrize("sent", ["no base64", "YQ="])
def test_a_report_that_is_no_base64_is_shown_as_it_came(client: RunnerClient, sent: str) -> None:
    script = _EVAL.replace("dGFibGU=", sent)
    outcome, _ = _judge(client, _job(_GOOD, Mode.PROFILE, script))
    text = base64.b64decode(outcome.artifacts.all()[0].content_base64).decode()
    assert sent == text


@pytest.mark.exhaustive  # each run has test_a_time_below_the_floor_is_refused_with_the_evidence
def test_a_compiled_script_problem_is_built_and_run(client: RunnerClient) -> None:
    harness = """
#include <cstdlib>
#include <cstring>
#include <unistd.h>
#include <string>
extern int custom_kernel(int);
int main(int argc, char** argv) {
    int fd = atoi(getenv("POPCORN_FD"));
    std::string out = "test-count: 2\\ntest.0.status: pass\\ntest.1.status: pass\\ncheck: ";
    out += custom_kernel(3) == 6 && !strcmp(argv[1], "test") ? "pass\\n" : "fail\\n";
    write(fd, out.data(), out.size());
}
"""
    job = _job("int custom_kernel(int x) { return 2 * x; }\n")
    problem = dataclasses.replace(
        job.problem,
        lang=Lang.CPP,
        files=(SourceFile("eval.cpp", harness),),
        submission_name="submission.cpp",
        config=BuildConfig(sources=("eval.cpp", "submission.cpp")),
    )
    outcome, events = _judge(client, dataclasses.replace(job, problem=problem))
    assert (Verdict.ACCEPTED, "") == _last(outcome)
    assert EventKind.COMPILED == events[0].kind


def test_a_failed_build_is_a_refused_test_phase(client: RunnerClient) -> None:
    job = _job("int custom_kernel(int x) {\n")
    problem = dataclasses.replace(
        job.problem, lang=Lang.CPP, submission_name="submission.cpp", config=BuildConfig()
    )
    outcome, _ = _judge(client, dataclasses.replace(job, problem=problem))
    assert [(Phase.TEST, Verdict.COMPILE_ERROR)] == [(p.phase, p.verdict) for p in outcome.phases]
    assert outcome.phases[0].failure is not None
    assert Fault.AUTHOR == outcome.phases[0].failure.fault


@pytest.mark.exhaustive
@pytest.mark.torch
def test_cuda_falls_on_the_cpu_for_scripts_too(client: RunnerClient) -> None:
    pytest.importorskip("torch", reason="torch is not installed here")
    source = (
        "import torch\n"
        "def custom_kernel(size):\n"
        "    return int(torch.full((2,), size, device='cuda').sum())\n"
    )
    outcome, _ = _judge(client, _job(source))
    assert (Verdict.ACCEPTED, "") == _last(outcome)


def test_a_script_measures_in_its_turn_and_tests_in_nobodys(client: RunnerClient) -> None:
    told: list[str] = []
    events: list[ProgressEvent] = []

    def ask(phase: Phase) -> TurnAnswer:
        told.append(phase)
        return TurnAnswer(0.0)

    job = _job(_GOOD, Mode.BENCHMARK)
    turn = MeasuringTurn(ask, lambda: told.append("over"))
    outcome = judge_script(job, client, events.append, turn=turn)
    assert ([Phase.BENCHMARK, "over"], Verdict.ACCEPTED) == (told, outcome.phases[-1].verdict)
