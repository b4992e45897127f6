"""A device without room: who is blamed, end to end; on the stand-in, with one device for all."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from kernelbot.harness.host.host import Host
from kernelbot.protocol import Case, Fault, Mode, RunResult, SourceFile, Verdict
from tests.support.cuda_driver import build_driver
from tests.support.device_problems import SCALE, device_job, device_problem
from tests.support.exhaustive import cases

MIB = 1 << 20
TOTAL_BYTES = 1 << 30
SMALL, LARGE = 3000, 20_000_000
ALLOCATE = """
def allocate(size):
    address = ctypes.c_uint64()
    return driver.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(size))
"""
HOARD = f"""{ALLOCATE}
def free_bytes():
    free, total = ctypes.c_size_t(), ctypes.c_size_t()
    driver.cuMemGetInfo_v2(ctypes.byref(free), ctypes.byref(total))
    return free.value
def hoard(left):
    while free_bytes() > left + (8 << 20) and not allocate(8 << 20):
        pass
{SCALE.replace("    x, outputs = data", "    hoard(LEFT)" + chr(10) + "    x, outputs = data")}"""


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("shared")
        build_driver(folder, total_bytes=TOTAL_BYTES, shared=True)
        patch.setenv("LD_LIBRARY_PATH", str(folder))
        host = Host()
        yield host
        host.close()


def judge(
    host: Host, source: str, mode: Mode = Mode.TEST, sizes: tuple[int, ...] = (SMALL,)
) -> RunResult:
    cases = tuple(Case({"size": size, "outputs": 1, "seed": 7}) for size in sizes)
    problem = replace(device_problem(), tests=cases, benchmarks=cases)
    return host.judge(device_job(source, mode, problem), lambda _event: None)


@pytest.mark.exhaustive
def test_with_room_all_is_well(host: Host) -> None:
    result = judge(host, SCALE, sizes=(SMALL, LARGE))
    assert Verdict.ACCEPTED == result.verdict, result.failure


# Each run has test_a_phase_begins_once_the_memory_of_the_last_ones_runner_is_free
@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "left_mib", cases([20, 110], always=[20]), ids=["for the problem", "for the judge"]
)
def test_who_leaves_no_room_is_to_blame(host: Host, left_mib: int) -> None:
    source = HOARD.replace("LEFT", str(left_mib * MIB))
    result = judge(host, source, sizes=(SMALL, LARGE))
    assert result.failure is not None
    assert (Verdict.MEMORY_LIMIT, Fault.AUTHOR) == (result.verdict, result.failure.fault)
    assert "holds so much of the device's memory" in result.failure.message


NEEDS_MUCH = f"""{ALLOCATE}
def much():
    taken = [ctypes.c_uint64() for _ in range(75)]  # it may be in pieces
    for address in taken:
        code = driver.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t({8 * MIB}))
        assert code == 0, "no room"
    for address in taken:
        driver.cuMemFree_v2(address)
{SCALE.replace("    x, outputs = data", "    much()" + chr(10) + "    x, outputs = data")}"""


def test_what_the_reference_needed_once_is_there_for_the_kernel(host: Host) -> None:
    """A framework keeps what its arrays needed, in the problem's process for as long as it is."""
    problem = device_problem()
    reference, *others = problem.files
    scratch = f"    x, outputs = data\n    tensors.empty({100 * MIB}, device='cuda')\n    made ="
    text = reference.text.replace("    x, outputs = data\n    made =", scratch)
    cases = tuple(Case({"size": size, "outputs": 1, "seed": 7}) for size in (3000, 3001, 3002))
    files = (SourceFile(reference.name, text), *others)
    job = device_job(NEEDS_MUCH, Mode.TEST, replace(problem, files=files, tests=cases))
    result = host.judge(job, lambda _event: None)
    assert Verdict.ACCEPTED == result.verdict, result.failure


@pytest.mark.exhaustive
def test_the_next_job_finds_the_memory_free(host: Host) -> None:
    judge(host, HOARD.replace("LEFT", "0"))
    assert Verdict.ACCEPTED == judge(host, SCALE, sizes=(SMALL, LARGE)).verdict


def test_a_phase_begins_once_the_memory_of_the_last_ones_runner_is_free(host: Host) -> None:
    source = f"{ALLOCATE}\nassert allocate({600 * MIB}) == 0\n{SCALE}"
    result = judge(host, source, Mode.BENCHMARK)
    assert Verdict.ACCEPTED == result.verdict, result.failure


FULL = {
    "while data is laid out": f"driver.fake_fail_in(b'cuMemAddressReserve', 2)\n{SCALE}",
    "in the kernel": "import tensors\ndef custom_kernel(data):\n    tensors.zeros(1 << 40)\n",
    "on the device": (
        "import tensors\n"
        "def custom_kernel(data):\n    return tensors.zeros(1 << 30, device='cuda')\n"
    ),
}


@pytest.mark.parametrize("source", FULL.values(), ids=FULL.keys())
def test_a_runner_without_room_is_its_authors(host: Host, source: str) -> None:
    result = judge(host, source)
    assert result.failure is not None
    assert (Verdict.MEMORY_LIMIT, Fault.AUTHOR) == (result.verdict, result.failure.fault)


@pytest.mark.exhaustive
def test_a_judge_without_room_blames_nobody(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Not even if only the way of timed calls is too much: that is known before anything runs."""
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("tight")
        build_driver(folder, total_bytes=400 * MIB, shared=True)
        patch.setenv("LD_LIBRARY_PATH", str(folder))
        host = Host()
        try:
            result = judge(host, f"print('loaded')\n{SCALE}", Mode.BENCHMARK, (LARGE,))
        finally:
            host.close()
    assert result.failure is not None
    assert (Verdict.INTERNAL_ERROR, Fault.PLATFORM) == (result.verdict, result.failure.fault)
    assert "doesn't fit the device" in result.failure.message
    assert "" == result.stdout


@pytest.mark.exhaustive
def test_a_workload_that_does_not_fit_the_device_is_our_fault(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        folder = build_driver(tmp_path_factory.mktemp("small"), total_bytes=80 << 20).parent
        patch.setenv("LD_LIBRARY_PATH", str(folder))
        host = Host()
        try:
            source = f"print('loaded')\n{SCALE}"
            job = device_job(source, Mode.TEST, device_problem(size=6_000_000))
            result = host.judge(job, lambda _event: None)
        finally:
            host.close()
    assert result.failure is not None
    assert (Verdict.INTERNAL_ERROR, Fault.PLATFORM) == (result.verdict, result.failure.fault)
    assert "doesn't fit the device" in result.failure.message
    assert "" == result.stdout
