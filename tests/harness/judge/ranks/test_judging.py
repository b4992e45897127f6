"""Problems of several ranks through the real harness: processes, sandbox, examiner and all."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from kernelbot.catalog.problem import load_problem
from kernelbot.harness.host.host import Host
from kernelbot.protocol import (
    Case,
    Fault,
    JobSpec,
    Mode,
    ProblemSpec,
    ProgressEvent,
    RunResult,
    SamplingRules,
    SourceFile,
    Timeouts,
    Verdict,
)
from tests.harness.jobs import a_job

EXAMPLE = Path(__file__).parents[4] / "examples" / "allreduce_py"
PROBLEM = load_problem(EXAMPLE).definition.spec
SMALL = tuple(Case({"world_size": 2, "size": size, "seed": 7}) for size in (3, 100))
HONEST = (EXAMPLE / "submission.py").read_text()


ADD = "total = mine.clone()\ndist.all_reduce(total)\n"
SUM = f"{ADD}return total"


def kernel(body: str, before: str = "") -> str:
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    head = "import os, torch, torch.distributed as dist\n"
    return f"{head}{before}\ndef custom_kernel(data):\n    mine, rank, world = data\n{lines}\n"


def a_problem(reference: str | None = None, tests: tuple[Case, ...] = SMALL) -> ProblemSpec:
    spec = replace(PROBLEM, tests=tests, benchmarks=SMALL[-1:], timeouts=Timeouts(test_s=20))
    if reference is None:
        return spec
    others = tuple(file for file in spec.files if file.name != "reference.py")
    return replace(spec, files=(SourceFile("reference.py", reference), *others))


def judge(
    host: Host, source: str, *, mode: Mode = Mode.TEST, problem: ProblemSpec | None = None
) -> RunResult:
    def quiet(_event: ProgressEvent) -> None:
        return

    job: JobSpec = a_job(source, mode=mode, problem=problem or a_problem())
    return host.judge(replace(job, limits=replace(job.limits, memory_bytes=2 << 30)), quiet)


def messages(result: RunResult) -> list[str]:
    return [case.message for phase in result.phases for case in phase.cases]


@pytest.mark.exhaustive
def test_ranks_of_any_number_answer_in_turn(host: Host) -> None:
    sizes = (1, 3, 2)
    cases = tuple(Case({"world_size": size, "size": 5, "seed": 7}) for size in sizes)
    result = judge(host, HONEST, problem=a_problem(tests=cases))
    assert Verdict.ACCEPTED == result.verdict, result.failure
    assert [case.spec for case in cases] == [case.spec for case in result.phases[0].cases]


def test_every_rank_finds_what_it_expects_around_it(host: Host) -> None:
    seen = "print('seen', *(os.environ[name] for name in ('RANK', 'WORLD_SIZE', 'LOCAL_RANK')))"
    checks = "assert (rank, world) == (dist.get_rank(), dist.get_world_size())"
    result = judge(host, kernel(f"{checks}\ndist.all_reduce(mine)\nreturn mine.clone()", seen))
    assert {"seen 0 2 0", "seen 1 2 1"} == set(result.stdout.splitlines())


@pytest.mark.exhaustive  # each run has test_every_rank_finds_what_it_expects_around_it
def test_the_time_covers_the_slowest_rank(host: Host) -> None:
    slow = kernel(
        "import time\ntime.sleep(0.02 * rank)\ntotal = mine.clone()\n"
        "dist.all_reduce(total)\nreturn total"
    )
    result = judge(host, slow, mode=Mode.BENCHMARK)
    assert Verdict.ACCEPTED == result.verdict, result.failure
    assert result.phases[-1].workloads[0].best_ns >= 20e6


def test_a_rank_that_raises_is_named_and_the_next_case_has_new_ranks(host: Host) -> None:
    result = judge(host, kernel("if rank == 1 and len(mine) == 3: raise ValueError('no')\n" + SUM))
    assert [Verdict.RUNTIME_ERROR, Verdict.ACCEPTED] == [c.verdict for c in result.phases[0].cases]
    assert messages(result)[0].startswith("Rank 1: The submission failed:")
    assert "ValueError: no" in messages(result)[0]


@pytest.mark.parametrize(
    ("source", "verdict", "message"),
    [
        (kernel(SUM, "1/0 if os.environ['RANK'] == '1' else 0"), "runtime_error", "Rank 1: "),
        # All ranks fail alike here: the one that says so first is named.
        ("def custom_kernel(data: return", "compile_error", "Rank [01]: "),
        ("x = 1", "runtime_error", "Rank [01]: The submission defines no function"),
    ],
    ids=["raises on rank 1 alone", "no Python", "no kernel"],
)
def test_a_failing_import_names_its_rank(
    host: Host, source: str, verdict: str, message: str
) -> None:
    result = judge(host, source)
    assert verdict == result.verdict
    assert result.failure is not None
    assert re.match(message, result.failure.message)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("return mine.clone()", "Rank 0: the output differs"),
        (f"{SUM} if rank == 0 else None", "Rank 1: The output is None"),
        (f"{SUM}.double() if rank else total", "Rank 1: The output has dtype torch.float64"),
        (f"{SUM}[1:] if rank else total", "Rank 1: The output has shape"),
    ],
    ids=["no sum", "none", "another type", "another shape"],
)
def test_each_ranks_output_is_checked(host: Host, body: str, message: str) -> None:
    result = judge(host, kernel(body))
    assert Verdict.WRONG_ANSWER == result.verdict
    assert messages(result)[0].startswith(message)


def test_inputs_that_one_rank_changes_are_noticed(host: Host) -> None:
    result = judge(host, kernel(f"{ADD}mine[0] += rank\nreturn total"))
    assert Verdict.WRONG_ANSWER == result.verdict
    assert "inputs were changed" in messages(result)[0]


REFERENCE = (EXAMPLE / "reference.py").read_text()
CHECK = "    return compare(output, ref_kernel(data), rtol=TOLERANCE, atol=TOLERANCE)\n"


@pytest.mark.exhaustive  # each run has test_each_ranks_output_is_checked
def test_a_checker_that_leaves_the_others_waiting_still_says_what_it_found(host: Host) -> None:
    """And isn't waited for until the limit, which is longer than pytest waits for a test."""
    early = "    if data[1] == 0 and float(output[0]) == 42:\n        return False, 'forty-two'\n"
    problem = a_problem(REFERENCE.replace(CHECK, early + CHECK))
    problem = replace(problem, timeouts=Timeouts(test_s=600))
    result = judge(
        host, kernel(f"{SUM.replace('return total', '')}\nreturn total * 0 + 42"), problem=problem
    )
    assert ["Rank 0: forty-two"] * 2 == messages(result)


@pytest.mark.exhaustive  # each run has test_each_ranks_output_is_checked
@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (CHECK, "    raise RuntimeError('mine')\n", "checker failed: RuntimeError: mine"),
        ("    dist.all_reduce(total)\n", "    1 / 0\n", "ref_kernel failed: ZeroDivisionError"),
        ("    random = ", "    import os; os._exit(5)\n    random = ", "reference ended"),
    ],
    ids=["checker", "reference", "generator that ends its process"],
)
def test_a_broken_reference_is_our_fault(host: Host, old: str, new: str, message: str) -> None:
    result = judge(host, HONEST, problem=a_problem(REFERENCE.replace(old, new)))
    assert result.failure is not None
    assert (Verdict.INTERNAL_ERROR, Fault.PLATFORM) == (result.verdict, result.failure.fault)
    assert message in result.failure.message


OWN = """
import dataclasses
@dataclasses.dataclass
class Sum:
    total: torch.Tensor
"""


@pytest.mark.exhaustive  # each run has test_each_ranks_output_is_checked
def test_outputs_may_be_records_of_the_problems_own(host: Host) -> None:
    reference = REFERENCE.replace("task import ", "task import Sum, ")
    reference = reference.replace("return total", "return Sum(total)").replace(
        "compare(output, ref_kernel(data)", "compare(output.total, ref_kernel(data).total"
    )
    task = SourceFile("task.py", (EXAMPLE / "task.py").read_text() + OWN)
    problem = a_problem(reference)
    files = tuple(task if file.name == task.name else file for file in problem.files)
    source = kernel(SUM.replace("return total", "return Sum(total)"), "from task import Sum")
    result = judge(host, source, problem=replace(problem, files=files))
    assert Verdict.ACCEPTED == result.verdict, result.failure


BRIEF = """
from kernelbot.harness.data.channel import Channel
send_bytes = Channel.send_bytes
def send_briefly(channel, body, *others):
    if b'"op": "done"' in body:
        many = '{"t":"float","v":"1"},' * 99_000
        body = ('{"op":"done","size":0,"fits":true,"aliased":false,"claim_ns":1,"start_ns":1,'
                '"value":{"t":"list","v":[' + many[:-1] + ']}}').encode()
    send_bytes(channel, body, *others)
Channel.send_bytes = send_briefly
"""


@pytest.mark.exhaustive
def test_an_output_written_more_briefly_than_we_would_is_no_fault_of_the_problem(
    host: Host,
) -> None:
    result = judge(host, kernel(SUM, BRIEF))
    assert Verdict.WRONG_ANSWER == result.verdict, result.failure
    assert "Rank 0: The output is a value of type list" in messages(result)[0]


@pytest.mark.exhaustive  # each run has test_every_rank_finds_what_it_expects_around_it
def test_a_duel_calls_all_ranks_of_one_kernel_and_then_all_of_the_other(host: Host) -> None:
    few = SamplingRules(min_samples=10, max_samples=10, wall_cap_s=20.0, warmup_s=0.0)
    job = a_job(kernel(SUM), mode=Mode.LEADERBOARD, problem=a_problem())
    opponent = SourceFile("b.py", kernel(SUM.replace("mine.clone()", "mine + 0")))
    result = host.judge(replace(job, opponent=opponent, sampling=few), lambda _event: None)
    assert result.duel is not None, result.failure
    (load,) = result.duel.workloads
    assert (10, 10) == (len(load.submission_ns), len(load.opponent_ns))
