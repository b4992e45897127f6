"""How many samples a workload gets, through the real harness."""

from dataclasses import replace

import pytest

from kernelbot.harness.host.host import Host
from kernelbot.protocol import Mode, RunResult, SamplingRules, Timeouts, Verdict
from kernelbot.protocol.result_rules import held_to
from tests.harness.jobs import REFERENCE, SORT, a_job, a_problem

pytestmark = pytest.mark.timed

PATIENCE_S = 60.0
PATIENT = SamplingRules(wall_cap_s=0.2, patience_s=0.4, warmup_s=0.0)
WARM = SamplingRules(wall_cap_s=2.0, max_samples=30)
SLOW_KERNEL = SORT.replace("    return", "    import time; time.sleep({})\n    return")
SLOW_GENERATOR = REFERENCE.replace(
    "    return np.random",
    "    import time; time.sleep({} if size > 1000 else 0)\n    return np.random",
)


def measured(
    host: Host,
    source: str = SORT,
    reference: str = REFERENCE,
    sampling: SamplingRules = PATIENT,
) -> RunResult:
    problem = a_problem(reference=reference, timeouts=Timeouts(test_s=20, benchmark_s=4))
    problem = replace(problem, benchmarks=problem.benchmarks[:1])
    job = replace(a_job(source, mode=Mode.BENCHMARK, problem=problem), sampling=sampling)
    result = host.judge(job, lambda _event: None)
    assert result == held_to(job, result, PATIENCE_S)  # what a worker asks of it
    return result


@pytest.mark.exhaustive
def test_slow_calls_get_the_six_that_an_interval_needs(host: Host) -> None:
    result = measured(host, SLOW_KERNEL.format(0.2))
    assert Verdict.ACCEPTED == result.verdict, result.failure
    assert 6 == len(result.phases[-1].workloads[0].samples_ns)


@pytest.mark.exhaustive  # each run has test_each_of_its_outputs_is_checked
def test_too_few_are_no_score(host: Host) -> None:
    result = measured(host, SLOW_KERNEL.format(0.7))
    assert result.failure is not None
    assert (Verdict.TIME_LIMIT, "Too few samples:") == (
        result.verdict,
        result.failure.message[:16],
    )


@pytest.mark.exhaustive
def test_a_problem_that_is_too_slow_to_be_measured_is_no_authors_fault(host: Host) -> None:
    result = measured(host, reference=SLOW_GENERATOR.format(0.6))
    assert result.failure is not None
    assert (Verdict.INTERNAL_ERROR, True) == (
        result.verdict,
        "Making data, checks and caches took" in result.failure.message,
    )


def checked_and_windows(result: RunResult) -> tuple[int, int]:
    assert Verdict.ACCEPTED == result.verdict, result.failure
    workload = result.phases[-1].workloads[0]
    return workload.checked, len(workload.samples_ns) + workload.repeated


def test_a_short_kernel_is_called_more_than_once_in_a_window(host: Host) -> None:
    checked, windows = checked_and_windows(measured(host, sampling=WARM))
    assert checked > windows


@pytest.mark.exhaustive  # each run has test_each_of_its_outputs_is_checked
def test_how_many_calls_share_a_window_does_not_follow_what_checks_wait_for(host: Host) -> None:
    """As on a busy machine: a check of 5 ms would leave 8 calls."""
    waiting = REFERENCE.replace(
        "def check_implementation(data, output):",
        "def check_implementation(data, output):\n    import time; time.sleep(0.005)",
    )
    result = measured(host, reference=waiting, sampling=WARM)
    assert Verdict.ACCEPTED == result.verdict, result.failure
    assert result.phases[-1].workloads[0].calls > 8


@pytest.mark.exhaustive  # each run has test_each_of_its_outputs_is_checked
def test_but_not_one_that_has_one_place_for_all_outputs(host: Host) -> None:
    source = (
        "import numpy as np\nout = {}\n"
        "def custom_kernel(data):\n"
        "    mine = out.setdefault(data.size, np.empty_like(data))\n"
        "    mine[:] = data\n    mine.sort()\n    return mine\n"
    )
    checked, windows = checked_and_windows(measured(host, source, sampling=WARM))
    assert checked <= windows


def test_each_of_its_outputs_is_checked(host: Host) -> None:
    wrong = SORT.replace(
        "    return np.sort(data)",
        "    global calls\n    calls += 1\n"
        "    return np.sort(data) if data.size < 2000 or calls % 7 else np.sort(data) + 1",
    )
    assert Verdict.WRONG_ANSWER == measured(host, f"calls = 0\n{wrong}", sampling=WARM).verdict


@pytest.mark.exhaustive  # each run has test_each_of_its_outputs_is_checked
def test_none_of_them_leaves_its_work_to_the_last_one(host: Host) -> None:
    source = (
        "import numpy as np\nfrom time import perf_counter\n"
        "returned_s, made, most, pending = 0.0, 0, 1, []\n"
        "def custom_kernel(data):\n"
        "    global returned_s, made, most\n"
        "    if data.size < 2000:\n        return np.sort(data)\n"
        "    if perf_counter() - returned_s > 1e-3:\n"
        "        made = 0\n        pending.clear()\n"
        "    made += 1\n    pending.append((data, np.empty_like(data)))\n"
        "    if made >= most:\n"
        "        most = made\n"
        "        for given, out in pending:\n            out[:] = np.sort(given)\n"
        "    returned_s = perf_counter()\n    return pending[-1][1]\n"
    )
    assert Verdict.WRONG_ANSWER == measured(host, source, sampling=WARM).verdict


@pytest.mark.exhaustive  # each run has test_each_of_its_outputs_is_checked
def test_a_call_that_returns_at_once_while_it_warms_up_lets_no_more_share_a_window(
    host: Host,
) -> None:
    """Nobody looks at most outputs of a warm-up. With caches that stay warm a kernel is quicker."""
    source = (
        "import numpy as np\nfrom time import perf_counter\ncalls = 0\n"
        "def custom_kernel(data):\n"
        "    global calls\n    calls += data.size >= 2000\n"
        "    if calls == 3:\n        return data\n"
        "    end = perf_counter() + 2e-3\n    while perf_counter() < end:\n        pass\n"
        "    return np.sort(data)\n"
    )
    checked, windows = checked_and_windows(
        measured(host, source, sampling=replace(WARM, warmup_s=0.8))
    )
    assert checked <= windows
