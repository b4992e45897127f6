"""A build step without a GPU, and the run that gets what it has built. The GPU is the stand-in."""

import base64
import hashlib
import os
import platform
import shutil
import zlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from kernelbot.harness.gpu.lock import GpuLocks, gpus_locked
from kernelbot.harness.host.host import Host
from kernelbot.harness.judge.build.place import compiler_version, why_unfit
from kernelbot.harness.judge.build.product import pack_product, unpack_product
from kernelbot.harness.judge.carried import TOO_LARGE, with_said
from kernelbot.protocol import (
    BuildConfig,
    BuildEnvironment,
    EventKind,
    JobSpec,
    Lang,
    Mode,
    ProblemSpec,
    Product,
    ProgressEvent,
    RunResult,
    SourceFile,
    Vendor,
    Verdict,
    from_wire,
    to_wire,
)
from kernelbot.protocol.building import build_job
from kernelbot.protocol.result_rules import held_to
from kernelbot.protocol.result_size import MAX_TEXT
from tests.harness.judge.test_gpu_turn import LOAD_INLINE
from tests.support.cuda_driver import build_driver
from tests.support.device_problems import DOUBLE, compiled_problem, device_job, device_problem
from tests.support.exhaustive import few

LONG_S = 3600.0
MACHINE, LIBC = platform.machine(), os.confstr("CS_GNU_LIBC_VERSION") or ""
GXX = compiler_version("g++")
CUDA = """
__global__ void twice(const float* x, float* out) { out[threadIdx.x] = 2 * x[threadIdx.x]; }
extern "C" void custom_kernel(const float* x, float* out) { twice<<<1, 1>>>(x, out); }
"""


@pytest.fixture(scope="module")
def locks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("locks")


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        made = build_driver(tmp_path_factory.mktemp("driver"))
        patch.setenv("LD_LIBRARY_PATH", str(made.parent))
        yield


@pytest.fixture(scope="module")
def builder(driver: None, locks: Path) -> Iterator[Host]:
    """Of a machine without a GPU: to wait for one would fail at once."""
    made = Host(gpus=GpuLocks(("g0",), locks, wait_s=0), lasting=False)
    with gpus_locked(Vendor.NVIDIA, ("g0",), locks, 0):
        yield made
    made.close()


@pytest.fixture(scope="module")
def node(driver: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    """As on a scheduler's machine."""
    made = Host(gpus=GpuLocks(("g0",), tmp_path_factory.mktemp("node")), lasting=False)
    yield made
    made.close()


def quiet(_event: ProgressEvent) -> None:
    return


def built(host: Host, job: JobSpec) -> RunResult:
    """The result of the build step, as it comes over the wire and is held to its job."""
    step = build_job(job, "b1", "builder")
    result = from_wire(RunResult, to_wire(host.attempt(step, quiet)))
    return held_to(step, result, LONG_S)


def product_of(host: Host, job: JobSpec) -> Product:
    product = built(host, job).product
    assert product is not None
    return product


def judged(host: Host, job: JobSpec) -> tuple[RunResult, list[EventKind]]:
    events: list[ProgressEvent] = []
    result = host.attempt(job, events.append)
    return held_to(job, result, LONG_S), [event.kind for event in events]


def a_run(source: str, problem: ProblemSpec, mode: Mode = Mode.TEST) -> JobSpec:
    return device_job(source, mode, problem)


@pytest.mark.exhaustive  # each run has test_warnings_leave_no_failure_out
def test_a_library_is_compiled_once_for_all_runs(builder: Host, node: Host) -> None:
    run = a_run(DOUBLE, compiled_problem())
    product = product_of(builder, run)
    secret = replace(run, mode=Mode.LEADERBOARD, secret=True, seed=7)
    for job in (run, secret):
        result, events = judged(node, replace(job, product=product))
        assert result.compile is not None
        assert (Verdict.ACCEPTED, True) == (result.verdict, result.compile.cached)
        assert EventKind.COMPILED not in events


@pytest.mark.exhaustive
def test_both_sides_of_a_duel_come_built(builder: Host, node: Host) -> None:
    run = a_run(DOUBLE, compiled_problem(), Mode.LEADERBOARD)
    other = DOUBLE.replace("2 * x[i]", "x[i] + x[i]")
    files = (DOUBLE, other)
    products = [product_of(builder, a_run(source, compiled_problem())) for source in files]
    duel = replace(
        run,
        secret=True,
        seed=7,
        opponent=SourceFile("other.cpp", other),
        product=products[0],
        opponent_product=products[1],
    )
    result, events = judged(node, duel)
    assert (Verdict.ACCEPTED, 0) == (result.verdict, events.count(EventKind.COMPILED))


def test_what_does_not_compile_ends_in_the_build_step(builder: Host) -> None:
    result = built(builder, a_run("int x = ;", compiled_problem()))
    assert (Verdict.COMPILE_ERROR, None) == (result.verdict, result.product)
    assert result.failure is not None
    assert "error" in result.failure.message


def test_a_compiler_that_takes_too_long_ends_there_too(builder: Host) -> None:
    problem = compiled_problem()
    hurried = replace(problem, timeouts=replace(problem.timeouts, compile_s=0.05))
    result = built(builder, a_run(DOUBLE, hurried))
    assert (Verdict.TIME_LIMIT, None) == (result.verdict, result.product)


@pytest.mark.exhaustive
def test_what_a_file_builds_at_import_is_built_without_a_gpu(builder: Host, node: Host) -> None:
    """The run, whose import would print that it builds, finds it."""
    run = a_run(LOAD_INLINE, device_problem())
    result, _ = judged(node, replace(run, product=product_of(builder, run)))
    assert (Verdict.ACCEPTED, "") == (result.verdict, result.stdout)


@pytest.mark.exhaustive  # each run has test_a_compiler_that_takes_too_long_ends_there_too
def test_a_file_that_builds_nothing_leaves_nothing(builder: Host) -> None:
    result = built(builder, a_run("# load_inline\nraise OSError\n", device_problem()))
    assert (Verdict.ACCEPTED, None) == (result.verdict, result.product)


@pytest.mark.exhaustive
def test_what_is_too_large_to_carry_is_built_by_each_run(builder: Host, node: Host) -> None:
    large = LOAD_INLINE.replace(
        'built.write_text("done")', 'built.write_bytes(__import__("os").urandom(20 << 20))'
    )
    run = a_run(large, device_problem())
    result = built(builder, run)
    assert (None, (TOO_LARGE,)) == (result.product, result.system.notes)
    assert Verdict.ACCEPTED == judged(node, run)[0].verdict


@pytest.mark.parametrize(
    ("elsewhere", "why"),
    few(
        [
            (BuildEnvironment(MACHINE, "a'; echo x"), "it was built with a'; echo x, and here is"),
            (BuildEnvironment("x", LIBC), "it is for x, and this machine is"),
            (BuildEnvironment(MACHINE, LIBC, {"g++": "another"}), "it was built with another g++"),
            (
                BuildEnvironment(MACHINE, LIBC, {"g++": GXX}, "another"),
                "it was built for another proc",
            ),
        ],
        1,
    ),
)
def test_what_does_not_fit_is_built_where_it_runs(
    builder: Host, node: Host, elsewhere: BuildEnvironment, why: str
) -> None:
    run = a_run(DOUBLE, compiled_problem())
    product = replace(product_of(builder, run), place=elsewhere)
    result, events = judged(node, replace(run, product=product))
    assert (Verdict.ACCEPTED, True) == (result.verdict, EventKind.COMPILED in events)
    assert any(why in note for note in result.system.notes)


def changed(product: Product, packed: bytes) -> Product:
    digest = hashlib.sha256(packed).hexdigest()
    return replace(product, content_base64=base64.b64encode(packed).decode(), sha256=digest)


@pytest.mark.exhaustive
def test_what_is_not_what_was_built_is_built_where_it_runs(builder: Host, node: Host) -> None:
    run = a_run(DOUBLE, compiled_problem())
    product = product_of(builder, run)
    packed = base64.b64decode(product.content_base64)
    bad = {
        "its hash isn't that": replace(product, sha256="0" * 64),
        "it isn't base64": replace(product, content_base64="a'; echo x"),
        "it isn't packed": changed(product, b"a'; echo x"),
        "it ends too early": changed(product, packed[:-9]),
        "it is too large, unpacked": changed(product, zlib.compress(bytes(100 << 20))),
    }
    for why, one in bad.items():
        result, events = judged(node, replace(run, product=one))
        assert (Verdict.ACCEPTED, True) == (result.verdict, EventKind.COMPILED in events)
        assert any(why in note for note in result.system.notes), why


def test_nothing_is_packed_that_is_empty_or_too_large() -> None:
    place = BuildEnvironment(MACHINE, LIBC)
    assert [None, None] == [pack_product(content, place) for content in (b"", bytes(65 << 20))]


def test_a_compiler_that_is_not_installed_is_no_other_one() -> None:
    """A GPU's node needs no toolkit for what comes built."""
    made = BuildEnvironment(MACHINE, LIBC, {"g++": "12", "nvcc": "13"})
    assert "" == why_unfit(made, BuildEnvironment(MACHINE, LIBC, {"g++": "12", "nvcc": ""}))


@pytest.mark.exhaustive
@pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc isn't installed")
def test_cuda_is_compiled_without_a_gpu(builder: Host) -> None:
    config = BuildConfig(sources=("submission.cu",), outputs=(1,))
    problem = replace(
        compiled_problem(), lang=Lang.CU, submission_name="submission.cu", config=config
    )
    product = product_of(builder, a_run(CUDA, problem))
    assert (b"\x7fELF", "") == (unpack_product(product)[:4], product.place.processor)
    assert product.report is not None
    assert ["twice(float const*, float*)"] == [one["name"] for one in product.report.kernels]


@pytest.mark.parametrize(
    ("said", "output", "expected"),
    [
        ("", "failed", "failed"),
        ("warned", "", "warned"),
        ("warned", "failed", "warned\nfailed"),
        ("w" * MAX_TEXT, "failed", "w" * (MAX_TEXT - 7) + "\nfailed"),
        ("warned", "f" * MAX_TEXT, "f" * MAX_TEXT),
    ],
)
def test_warnings_leave_no_failure_out(said: str, output: str, expected: str) -> None:
    assert expected == with_said(said, output)
