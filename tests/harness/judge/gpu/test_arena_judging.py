"""Judging with data and outputs in the judge's memory on the device, end to end, in the sandbox.

The driver and the framework are stand-ins; everything between them is real.
"""

import time
from collections.abc import Iterator
from dataclasses import replace

import pytest

from kernelbot.harness.host.cancellation import Cancellation
from kernelbot.harness.host.host import Host
from kernelbot.harness.host.pool import key_of
from kernelbot.protocol import Fault, Floor, Mode, RunResult, Verdict
from tests.harness.jobs import SORT, a_job
from tests.support.cuda_driver import CACHE_BYTES, build_driver
from tests.support.device_problems import (
    DEVICE,
    DOUBLE,
    SCALE,
    compiled_problem,
    device_job,
    device_problem,
    with_own_class,
)
from tests.support.exhaustive import cases

PROBLEM = device_problem()


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    with pytest.MonkeyPatch.context() as patch:
        folder = build_driver(tmp_path_factory.mktemp("driver")).parent
        patch.setenv("LD_LIBRARY_PATH", str(folder))
        host = Host()
        yield host
        host.close()


def judge(host: Host, source: str, mode: Mode = Mode.TEST, **changes: object) -> RunResult:
    problem = replace(PROBLEM, **changes)  # type: ignore[arg-type]
    return host.judge(device_job(source, mode, problem), lambda _event: None)


def kernel(body: str, prelude: str = "") -> str:
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    return f"import tensors\n{prelude}\ndef custom_kernel(data):\n    x, outputs = data\n{lines}\n"


def test_an_honest_kernel_is_accepted_and_timed(host: Host) -> None:
    result = judge(host, SCALE, Mode.BENCHMARK)
    assert Verdict.ACCEPTED == result.verdict, result.failure
    assert () == result.system.notes
    (load,) = result.phases[-1].workloads
    assert (20, True) == (len(load.samples_ns), load.checked >= 10)


def test_so_is_one_with_several_outputs(host: Host) -> None:
    problem = device_problem(outputs=(3,))
    result = host.judge(device_job(SCALE, Mode.BENCHMARK, problem), lambda _event: None)
    assert Verdict.ACCEPTED == result.verdict, result.failure


@pytest.mark.exhaustive  # each run has test_an_honest_kernel_is_accepted_and_timed
def test_so_is_one_of_an_object_of_the_problems(host: Host) -> None:
    source = SCALE.replace("= data\n", "= data\n    x = x.get()\n")
    job = device_job(source, Mode.BENCHMARK, with_own_class(PROBLEM))
    result = host.judge(job, lambda _event: None)
    assert Verdict.ACCEPTED == result.verdict, result.failure


SLOW_DETACH = """
def slow_detach(self, real=Tensor.detach):
    until = time.thread_time() + 0.002
    while time.thread_time() < until:
        pass
    return real(self)

Tensor.detach = slow_detach
"""


@pytest.mark.timed
@pytest.mark.parametrize("outputs", cases([1, 3], always=[3]))
def test_so_is_one_whose_outputs_take_long_to_describe(host: Host, outputs: int) -> None:
    """As on a busy machine: the control calls describe as many."""
    problem = device_problem(outputs=(outputs,))
    task, tensors = problem.files[1:]
    slow = replace(tensors, text=f"import time\n{tensors.text}{SLOW_DETACH}")
    problem = replace(problem, files=(problem.files[0], task, slow))
    result = host.judge(device_job(SCALE, Mode.BENCHMARK, problem), lambda _event: None)
    assert Verdict.ACCEPTED == result.verdict, result.failure


@pytest.mark.exhaustive  # each run has test_an_honest_kernel_is_accepted_and_timed
def test_so_is_a_compiled_one(host: Host) -> None:
    job = device_job(DOUBLE, Mode.BENCHMARK, compiled_problem())
    result = host.judge(job, lambda _event: None)
    assert Verdict.ACCEPTED == result.verdict, result.failure


@pytest.mark.exhaustive  # each run has test_an_honest_kernel_is_accepted_and_timed
def test_a_duel_has_an_arena_for_each(host: Host) -> None:
    job = device_job(SCALE, Mode.LEADERBOARD, PROBLEM)
    result = host.judge(replace(job, opponent=job.submission), lambda _event: None)
    assert Verdict.ACCEPTED == result.verdict, result.failure
    assert result.duel is not None
    (load,) = result.duel.workloads
    assert (20, 20) == (len(load.submission_ns), len(load.opponent_ns))


@pytest.mark.parametrize("place", ["out[-1] = 1;", "out[size] = 1;"])
def test_writing_beside_an_output_is_noticed(host: Host, place: str) -> None:
    source = DOUBLE.replace("for", f"{place} for")
    result = host.judge(device_job(source, Mode.TEST, compiled_problem()), lambda _event: None)
    assert Verdict.RULE_VIOLATION == result.verdict
    assert result.failure is not None
    assert "beside its output" in result.failure.message


WRONG = {
    "the input": "return x",
    "an output of another shape": "return tensors.zeros(2, device='cuda')",
    "one in the host's memory": "return (x * 2).cpu()",
    "more arrays": "return [x * 2, x * 2]",
}


@pytest.mark.parametrize("body", WRONG.values(), ids=WRONG.keys())
def test_a_wrong_output_is_one(host: Host, body: str) -> None:
    assert Verdict.WRONG_ANSWER == judge(host, kernel(body)).verdict


def test_an_output_larger_than_its_arena_gets_a_larger_one(host: Host) -> None:
    source = kernel("return tensors.zeros(1 << 20, device='cuda')")
    result = judge(host, source)
    assert "has shape (1048576,), expected (3000,)" in str(result.failure)


def test_an_output_far_too_large_is_not_read(host: Host) -> None:
    result = judge(host, kernel("return tensors.zeros(20 << 20, device='cuda')"))
    assert Verdict.WRONG_ANSWER == result.verdict
    assert "more than there is room for" in str(result.failure)


def test_one_case_of_that_kind_spoils_no_other(host: Host) -> None:
    body = "if outputs == 2: return tensors.zeros(20 << 20, device='cuda')\nreturn x * 2"
    job = device_job(kernel(body), Mode.TEST, device_problem(outputs=(2, 1)))
    cases = host.judge(job, lambda _event: None).phases[0].cases
    assert [Verdict.WRONG_ANSWER, Verdict.ACCEPTED] == [case.verdict for case in cases]


def test_changed_inputs_are_noticed(host: Host) -> None:
    source = kernel("y = x * 2\nx.numpy()[5] = 0\nreturn y")
    verdicts = [judge(host, source, inputs_unchanged=one).verdict for one in (True, False)]
    assert [Verdict.WRONG_ANSWER, Verdict.ACCEPTED] == verdicts


PUTS_BACK = """
import sys
calls = sys.modules["kernelbot.harness.inside.runner.arena_calls"].ArenaCalls
held = []

def describe(self, *given, real=calls._describe, **named):
    while held:
        held.pop()[5] *= 0.5
    return real(self, *given, **named)

calls._describe = describe
"""


# Each run has test_an_honest_kernel_is_accepted_and_timed and those of test_arena_exploits.py
@pytest.mark.exhaustive
def test_inputs_that_are_put_back_while_the_output_is_described_were_changed(host: Host) -> None:
    source = kernel("y = x * 2\nx.numpy()[5] *= 2\nheld.append(x.numpy())\nreturn y", PUTS_BACK)
    results = [judge(host, source, Mode.BENCHMARK, inputs_unchanged=one) for one in (True, False)]
    assert [Verdict.WRONG_ANSWER, Verdict.ACCEPTED] == [one.verdict for one in results]
    assert "inputs were changed" in str(results[0].failure)


def test_a_profile_gets_its_data_by_the_host(host: Host) -> None:
    result = judge(host, SCALE, Mode.PROFILE)
    assert Verdict.ACCEPTED == result.verdict, result.failure


@pytest.mark.exhaustive  # each run has test_an_honest_kernel_is_accepted_and_timed
def test_pointers_change_though_memory_is_the_same(host: Host) -> None:
    seen = "print(len({*seen, *(seen.add(x.data_ptr()) or seen)}))\nreturn x * 2"
    result = judge(host, kernel(seen, "seen = set()"), Mode.BENCHMARK)
    assert Verdict.ACCEPTED == result.verdict, result.failure
    assert "2" == result.stdout.split()[-1]


@pytest.mark.exhaustive
def test_a_timed_calls_data_is_read_from_memory(host: Host) -> None:
    """But for the few places that are filled in last."""
    body = (
        "place = ctypes.c_uint64(x.data_ptr()), ctypes.c_size_t(x.nbytes)\n"
        "print(driver.fake_cached_bytes(*place))\nreturn x * 2"
    )
    job = device_job(kernel(body), Mode.BENCHMARK, device_problem(size=1 << 18))
    result = host.judge(job, lambda _event: None)
    assert Verdict.ACCEPTED == result.verdict, result.failure
    assert str(4 * 4096) == result.stdout.split()[-1]


def test_cuda_makes_handles_of_a_kernels_own_memory_alone(host: Host) -> None:
    """So a kernel that shares its input with other processes copies it first."""
    body = (
        "handle, own = ctypes.create_string_buffer(64), x.clone()\n"
        "ask = driver.cuIpcGetMemHandle\n"
        "print(*(ask(handle, ctypes.c_uint64(one.data_ptr())) for one in (x, own)))\n"
        "return own * 2"
    )
    result = judge(host, kernel(body))
    assert (Verdict.ACCEPTED, "1 0") == (result.verdict, result.stdout.strip())


@pytest.mark.exhaustive  # each run has test_an_honest_kernel_is_accepted_and_timed
@pytest.mark.parametrize(
    ("beyond_bytes", "expected"), [(0, Verdict.ACCEPTED), (1, Verdict.RULE_VIOLATION)]
)
def test_a_floor_of_traffic_begins_beyond_the_cache_and_takes_two(
    host: Host, beyond_bytes: int, expected: Verdict
) -> None:
    """On a device that takes a second for each byte."""
    floor = Floor(memory_bytes=CACHE_BYTES + beyond_bytes)
    job = device_job(SCALE, Mode.BENCHMARK, replace(PROBLEM, floors=(floor,)))
    job = replace(job, device=replace(DEVICE, peak_bytes_per_s=1.0))
    result = host.judge(job, lambda _event: None)
    assert (expected, beyond_bytes) == (result.verdict, len(result.system.notes))


@pytest.mark.exhaustive
def test_a_waiting_judge_has_its_context(tmp_path_factory: pytest.TempPathFactory) -> None:
    with pytest.MonkeyPatch.context() as patch:
        folder = build_driver(tmp_path_factory.mktemp("ahead")).parent
        (folder / "counts").touch(mode=0o600)  # the judge's alone
        patch.setenv("LD_LIBRARY_PATH", str(folder))
        host = Host()
        try:
            host.warm(key_of(device_job(SCALE, Mode.TEST, PROBLEM))).wait_ready(Cancellation())
            until = time.monotonic() + 60
            while b"PrimaryCtxRetain" not in (folder / "counts").read_bytes():
                assert time.monotonic() < until
                time.sleep(0.01)
            assert Verdict.ACCEPTED == judge(host, SCALE).verdict
        finally:
            host.close()


def result_beside(tmp_path_factory: pytest.TempPathFactory, name: str) -> RunResult:
    """Of an honest run with so named a file beside the driver."""
    with pytest.MonkeyPatch.context() as patch:
        folder = build_driver(tmp_path_factory.mktemp(name)).parent
        (folder / name).touch(mode=0o644)
        patch.setenv("LD_LIBRARY_PATH", str(folder))
        patch.delenv("CUDA_DEVICE_ORDER", raising=False)
        host = Host()
        try:
            return judge(host, SCALE)
        finally:
            host.close()


@pytest.mark.exhaustive
def test_judge_and_runner_number_gpus_alike(tmp_path_factory: pytest.TempPathFactory) -> None:
    result = result_beside(tmp_path_factory, "many")
    assert Verdict.ACCEPTED == result.verdict, result.failure


@pytest.mark.exhaustive
def test_a_runner_on_another_gpu_than_the_judge_is_our_failure(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    result = result_beside(tmp_path_factory, "mixed")
    assert result.failure is not None
    assert (Verdict.INTERNAL_ERROR, Fault.PLATFORM) == (result.verdict, result.failure.fault)
    assert "both must find the same one" in result.failure.message


@pytest.mark.exhaustive
def test_old_drivers_take_the_way_through_the_host(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        folder = build_driver(tmp_path_factory.mktemp("old"), virtual_memory=False).parent
        patch.setenv("LD_LIBRARY_PATH", str(folder))
        host = Host()
        try:
            job = replace(a_job(SORT), device=DEVICE)
            result = host.judge(job, lambda _event: None)
        finally:
            host.close()
    assert Verdict.ACCEPTED == result.verdict, result.failure
    assert "the driver can't share memory" in result.system.notes[0]
