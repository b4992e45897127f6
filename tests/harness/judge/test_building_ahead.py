"""What Triton compiles when a kernel is called first is compiled before a GPU is taken. Triton and
its compilers are real; the GPU is the stand-in, on which Triton's launches do nothing."""

import contextlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from kernelbot.harness.gpu.lock import GpuLocks, gpus_locked
from kernelbot.harness.host.host import Host
from kernelbot.harness.judge import building_ahead
from kernelbot.harness.judge.authors import authors_of
from kernelbot.protocol import EventKind, Mode, ProgressEvent, Vendor, Verdict
from kernelbot.protocol.building import build_job
from tests.support.cuda_driver import build_driver
from tests.support.device_problems import SCALE, device_job, device_problem
from tests.support.exhaustive import cases
from tests.support.triton_problems import TRITON, triton_job

pytest.importorskip("triton", reason="triton isn't installed")
pytestmark = pytest.mark.torch

PATIENCE_S = 60.0


@pytest.fixture(scope="module")
def locks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("locks")


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory, locks: Path) -> Iterator[Host]:
    with pytest.MonkeyPatch.context() as patch:
        driver = build_driver(tmp_path_factory.mktemp("driver"))
        patch.setenv("LD_LIBRARY_PATH", str(driver.parent))
        made = Host(gpus=GpuLocks(("g0",), locks, PATIENCE_S))
        yield made
        made.close()


def quiet(_event: ProgressEvent) -> None:
    return


@pytest.mark.exhaustive  # each run has test_what_another_nvcc_has_built_is_not_taken
def test_what_a_file_has_built_is_kept_for_its_next_run(locks: Path, tmp_path: Path) -> None:
    """What the home has is not built again, and took no time then."""
    source = f"""# As load_inline builds.
import time
from pathlib import Path
built = Path.home() / ".cache/torch_extensions/mine.so"
if not built.exists():
    built.parent.mkdir(parents=True)
    built.write_bytes(time.time_ns().to_bytes(8, "little"))
print(int.from_bytes(built.read_bytes(), "little"))
{SCALE}"""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LD_LIBRARY_PATH", str(build_driver(tmp_path).parent))
        keeping = Host(build_cache=tmp_path / "builds", gpus=GpuLocks(("g0",), locks, PATIENCE_S))
        events: list[ProgressEvent] = []
        try:
            first, second = (
                keeping.judge(device_job(source, Mode.TEST, device_problem()), events.append)
                for _ in range(2)
            )
        finally:
            keeping.close()
    took_s = [event.duration_s for event in events if event.kind is EventKind.COMPILED]
    built_anew = [duration_s != 0.0 for duration_s in took_s]
    assert ([True, False], Verdict.ACCEPTED) == (built_anew, first.verdict)
    assert first.stdout == second.stdout


@pytest.mark.exhaustive
def test_triton_compiles_while_another_job_has_the_gpu(host: Host, locks: Path) -> None:
    """And the runner that has the GPU finds what it needs, for both kinds of arguments."""
    with contextlib.ExitStack() as other:
        other.enter_context(gpus_locked(Vendor.NVIDIA, ("g0",), locks, 0))

        def end_the_other(event: ProgressEvent) -> None:
            if event.kind is EventKind.COMPILED:
                other.close()

        result = host.attempt(triton_job(TRITON), end_the_other)
    assert (Verdict.ACCEPTED, "found True\nfound True\n") == (result.verdict, result.stdout)


@pytest.mark.exhaustive
def test_what_triton_compiles_travels_from_a_build_step(host: Host) -> None:
    """To a node that builds nothing in advance."""
    run = triton_job(TRITON)
    product = host.attempt(build_job(run, "b1", "builder"), quiet).product
    node = Host(lasting=False)
    try:
        result = node.attempt(replace(run, product=product), quiet)
    finally:
        node.close()
    assert (Verdict.ACCEPTED, "found True\nfound True\n") == (result.verdict, result.stdout)


@pytest.mark.exhaustive
def test_calls_that_only_compile_have_data_of_no_run(host: Host) -> None:
    keep = """
kept = Path.home() / ".triton/cache/first"
inner = custom_kernel
def custom_kernel(data):
    if is_ahead:
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(str(data[0].item()))
    else:
        print("same data", kept.read_text() == str(data[0].item()))
    return inner(data)
"""
    job = triton_job(TRITON.replace('is_ahead or print("found", cache_hit)', "None") + keep)
    job = replace(job, problem=replace(job.problem, tests=job.problem.tests[:1]))
    result = host.attempt(job, quiet)
    assert (Verdict.ACCEPTED, "same data False\n") == (result.verdict, result.stdout)


def only_ahead(does: str) -> str:
    """The same kernel, which does this to the second kind of data where there is no GPU."""
    return f"""{TRITON}
inner = custom_kernel
def custom_kernel(data):
    if is_ahead and data.numel() == 64:
        {does}
    return inner(data)
"""


RAISES, EXITS = 'raise OSError("a\'; echo x")', "__import__('os')._exit(3)"


@pytest.mark.exhaustive  # each run has test_what_another_nvcc_has_built_is_not_taken
@pytest.mark.parametrize("trouble", cases([RAISES, EXITS], always=[RAISES]))
def test_what_was_compiled_before_a_failure_is_kept(host: Host, trouble: str) -> None:
    """And nobody is told of what fails where there is no GPU."""
    result = host.attempt(triton_job(only_ahead(trouble)), quiet)
    assert (Verdict.ACCEPTED, "found True\nfound False\n") == (result.verdict, result.stdout)


@pytest.mark.exhaustive
def test_a_kernel_that_does_not_return_without_a_gpu_is_judged_all_the_same(host: Host) -> None:
    result = host.attempt(triton_job(only_ahead("while True: pass"), compile_s=20), quiet)
    assert Verdict.ACCEPTED == result.verdict


@pytest.mark.exhaustive
def test_what_torch_compiles_for_a_gpu_waits_for_it(host: Host) -> None:
    result = host.attempt(triton_job(f"{TRITON}\n# torch.compile"), quiet)
    assert (Verdict.ACCEPTED, "found False\nfound False\n") == (result.verdict, result.stdout)


@pytest.mark.exhaustive
def test_what_triton_compiles_for_its_driver_is_there(host: Host) -> None:
    source = TRITON.replace('is_ahead or print("found", cache_hit)', "None")
    source += "print(len(list(Path.home().glob('.triton/cache/*/cuda_utils*'))))\n"
    result = host.attempt(triton_job(source), quiet)
    assert (Verdict.ACCEPTED, "1\n") == (result.verdict, result.stdout)


@pytest.mark.exhaustive
def test_a_build_step_says_what_each_kernel_needs(host: Host) -> None:
    """Of both kinds of arguments, with the block that Triton launches."""
    result = host.attempt(build_job(triton_job(TRITON), "b1", "builder"), quiet)
    assert result.compile is not None
    rows = result.compile.kernels
    assert [("double", "128", True, "0")] * 2 == [
        (row["name"], row["threads"], int(row["registers"]) > 0, row["spill_store_bytes"])
        for row in rows
    ]


@pytest.mark.exhaustive
def test_a_build_step_says_which_call_failed_and_why(host: Host) -> None:
    """That is no refusal: on a GPU the call may succeed."""
    source = TRITON.replace("2 * tl.load", "two * tl.load")
    result = host.attempt(build_job(triton_job(source), "b1", "builder"), quiet)
    assert (Verdict.ACCEPTED, True) == (result.verdict, result.compile is not None)
    assert result.compile is not None
    assert ("Called with size: 1; seed: ", True) == (
        result.compile.output[:27],
        "NameError('two is not defined')" in result.compile.output,
    )


@pytest.mark.exhaustive
def test_a_build_step_says_where_a_pass_of_tritons_failed(host: Host) -> None:
    """Triton raises only that one did, and prints the line."""
    source = TRITON.replace(
        "    tl.store(out + at, 2 * tl.load(x + at, mask=at < size), mask=", "    return ("
    )
    result = host.attempt(build_job(triton_job(source), "b1", "builder"), quiet)
    assert result.compile is not None
    line = source.split("\n").index("    return (at < size)") + 1
    *_, last = result.compile.output.splitlines()
    assert last.startswith(f"submission.py:{line}:")
    assert ": error: type of return operand" in last


@pytest.mark.exhaustive
def test_a_build_step_says_once_that_compiling_took_too_long(host: Host) -> None:
    job = triton_job(only_ahead("while True: pass"), compile_s=20)
    result = host.attempt(build_job(job, "b1", "builder"), quiet)
    assert result.compile is not None
    when, why = result.compile.output.splitlines()
    assert "Called with size: 64; seed: " == when[:28]
    assert why.startswith("Compiling was not done after 10 s. Unroll less")


def test_what_another_nvcc_has_built_is_not_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job, keys = triton_job(TRITON), set()
    monkeypatch.setenv("CUDA_HOME", str(tmp_path))
    nvcc = tmp_path / "bin" / "nvcc"
    nvcc.parent.mkdir()
    (tmp_path / "nvvm").mkdir()  # as a toolkit has one
    for release in ("13.0", "13.1"):
        nvcc.write_text(f"#!/bin/sh\necho release {release}\n")
        nvcc.chmod(0o755)
        keys.add(building_ahead._key(job, authors_of(job)[0]))
    assert 2 == len(keys)
