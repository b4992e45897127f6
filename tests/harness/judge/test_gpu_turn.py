"""A job takes its GPU once it needs it, and not before."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from kernelbot.harness.gpu.lock import GpuLocks, gpus_locked
from kernelbot.harness.host.host import Host
from kernelbot.protocol import EventKind, Mode, ProgressEvent, Vendor, Verdict
from tests.support.cuda_driver import build_driver
from tests.support.device_problems import DOUBLE, compiled_problem, device_job, device_problem

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


@contextlib.contextmanager
def held_by_another(locks: Path) -> Iterator[contextlib.ExitStack]:
    """Whoever gets the stack can end the other's job."""
    with contextlib.ExitStack() as other:
        other.enter_context(gpus_locked(Vendor.NVIDIA, ("g0",), locks, 0))
        yield other


@pytest.mark.exhaustive  # each run has test_the_gpu_is_free_after_a_job
def test_what_does_not_compile_takes_no_gpu(host: Host, locks: Path) -> None:
    with held_by_another(locks):
        result = host.attempt(device_job("int x = ;", Mode.TEST, compiled_problem()), quiet)
    assert (Verdict.COMPILE_ERROR, False) == (result.verdict, "gpu_held" in result.timings)


def test_a_kernel_is_compiled_while_another_job_has_the_gpu(host: Host, locks: Path) -> None:
    with held_by_another(locks) as other:

        def end_the_other(event: ProgressEvent) -> None:
            if event.kind is EventKind.COMPILED:
                other.close()

        result = host.attempt(device_job(DOUBLE, Mode.TEST, compiled_problem()), end_the_other)
    assert Verdict.ACCEPTED == result.verdict
    assert 0 < result.timings["gpu_held"] < result.timings["total"]


def test_the_gpu_is_free_after_a_job(host: Host, locks: Path) -> None:
    host.attempt(device_job(DOUBLE, Mode.TEST, compiled_problem()), quiet)
    with gpus_locked(Vendor.NVIDIA, ("g0",), locks, 0):
        pass


LOAD_INLINE = """
import os, tensors
from pathlib import Path
# As load_inline: what a first import leaves in the home, the next one finds.
built = Path.home() / ".cache/torch_extensions/mine.so"
if not built.exists():
    assert not list(Path("/dev").glob("nvidia*"))
    print("BUILT", flush=True)
    built.parent.mkdir(parents=True)
    built.write_text("done")
def custom_kernel(data):
    x, outputs = data
    return x * 2
"""


@pytest.mark.exhaustive
def test_what_a_file_builds_is_built_while_another_job_has_the_gpu(host: Host, locks: Path) -> None:
    """And the runner that has the GPU builds nothing: it prints nothing."""
    with held_by_another(locks) as other:

        def end_the_other(event: ProgressEvent) -> None:
            if event.kind is EventKind.COMPILED:
                other.close()

        job = device_job(LOAD_INLINE, Mode.TEST, device_problem())
        result = host.attempt(job, end_the_other)
    assert (Verdict.ACCEPTED, "") == (result.verdict, result.stdout)


@pytest.mark.exhaustive
def test_what_fails_while_it_is_built_ahead_is_told_where_it_counts(host: Host) -> None:
    source = LOAD_INLINE.replace("built.parent", 'raise OSError("a\'; echo x")\n    built.parent')
    result = host.attempt(device_job(source, Mode.TEST, device_problem()), quiet)
    assert (Verdict.RUNTIME_ERROR, "BUILT\n") == (result.verdict, result.stdout)
