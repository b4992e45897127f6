"""CUDA on the device CPU, through the sandbox's compiler."""

import dataclasses
import shutil

import pytest

from kernelbot.harness.judge.build.compile import CompilerProduct, compile_job
from kernelbot.harness.judge.build.on_cpu import (
    CHECKED_NOTE,
    CRASHED_NOTE,
    HIP_NOTE,
    KERNELS_ON_CPU_NOTE,
    LATE_NOTE,
    flags_for_cpu,
    has_kernels_on_cpu,
    note_on_unknown,
    notes_on_cpu,
    why_no_time,
)
from kernelbot.harness.sandbox import RunnerClient
from kernelbot.protocol import (
    CaseResult,
    DeviceSpec,
    Fault,
    JobSpec,
    Lang,
    Mode,
    Phase,
    PhaseResult,
    SourceFile,
    Vendor,
    Verdict,
)
from tests.harness.judge.build.test_compile import _job

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="g++ isn't installed")
_KERNEL = "__global__ void scale(float* a) { a[threadIdx.x] *= 2; }\n"
_LAUNCH = 'extern "C" void custom_kernel(float* a) { scale<<<1, 32>>>(a); }\n'


def test_a_kernel_is_compiled_for_the_processor(client: RunnerClient) -> None:
    job = _job(_KERNEL + _LAUNCH, Lang.CU, compile_flags=("-O3", "--use_fast_math", "-DN=1"))
    build = compile_job(job, client, CompilerProduct.SHARED_OBJECT)
    assert (Verdict.ACCEPTED, b"\x7fELF") == (build.verdict, build.binary[:4])


@pytest.mark.parametrize(
    ("mistake", "said"),
    [
        ("int x = unknown;\n", "submission.cu:3:9: error: "),
        ("__global__ void f() {\n}\nvoid g() { f<<<1, 1>>>(2); }\n", "submission.cu:5:"),
        ("void g() { h<<<1, 1>>>(2); }\n", "was not declared in this scope"),
    ],
)
def test_a_mistake_is_named_with_the_authors_line(
    client: RunnerClient, mistake: str, said: str
) -> None:
    build = compile_job(
        _job(_KERNEL + _LAUNCH + mistake, Lang.CU), client, CompilerProduct.SHARED_OBJECT
    )
    assert build.failure is not None
    assert (Verdict.COMPILE_ERROR, Fault.AUTHOR) == (build.verdict, build.failure.fault)
    assert said in build.failure.message


def test_macros_of_an_author_before_cub_change_nothing(client: RunnerClient) -> None:
    names = ("BINS", "COUNT", "ITEMS", "THREADS", "WARP", "WIDTH", "X")
    macros = "".join(f"#define {name} 32\n" for name in names)
    source = macros + "#include <cub/cub.cuh>\n" + _KERNEL + _LAUNCH + "int x = ITEMS + X;\n"
    build = compile_job(_job(source, Lang.CU), client, CompilerProduct.SHARED_OBJECT)
    assert Verdict.ACCEPTED == build.verdict


@pytest.mark.parametrize(
    ("mistake", "name"),
    [
        ("__device__ int f() { return __no_such_intrinsic(1); }\n", "__no_such_intrinsic"),
        ("cudaNoSuchType_t f();\n", "cudaNoSuchType_t"),
        ("#include <cuda_no_such.h>\n", "cuda_no_such.h"),
        ("int f() { return cooperative_groups::no_such(1); }\n", "no_such"),
        ("void f() { cooperative_groups::this_thread_block().no_such(); }\n", "no_such"),
    ],
)
def test_a_name_that_may_be_the_toolkits_is_told_apart(
    client: RunnerClient, mistake: str, name: str
) -> None:
    job = _job(_KERNEL + _LAUNCH + mistake, Lang.CU)
    build = compile_job(job, client, CompilerProduct.SHARED_OBJECT)
    assert build.report is not None
    [said] = note_on_unknown(build.report.output)
    assert said.startswith(
        f"The device CPU has CUDA and HIP by headers of its own, and {name!r} isn't in them. If it"
    )


@pytest.mark.parametrize("said", ["", "a.cu:3:9: error: expected ';'", "was not declared"])
def test_other_mistakes_are_the_authors_alone(said: str) -> None:
    assert note_on_unknown(said) == ()


def test_what_needs_a_gpu_is_refused_before_it_is_compiled(client: RunnerClient) -> None:
    source = _KERNEL + '__device__ void f() { asm("wgmma.fence.sync.aligned;"); }\n'
    build = compile_job(_job(source, Lang.CU), client, CompilerProduct.SHARED_OBJECT)
    assert build.failure is not None
    assert build.report is not None
    assert ("", Verdict.COMPILE_ERROR, Fault.AUTHOR) == (
        build.report.command,
        build.verdict,
        build.failure.fault,
    )
    assert build.failure.message.startswith("submission.cu:2: inline PTX (`asm`: `wgmma.fence")


def test_a_problem_that_needs_a_gpu_is_not_its_authors_fault(client: RunnerClient) -> None:
    job = _job(_KERNEL + _LAUNCH, Lang.CU)
    header = SourceFile("task.h", '__device__ void f() { asm("wgmma.fence.sync.aligned;"); }\n')
    problem = dataclasses.replace(job.problem, files=(*job.problem.files, header))
    build = compile_job(
        dataclasses.replace(job, problem=problem), client, CompilerProduct.SHARED_OBJECT
    )
    assert build.failure is not None
    assert (Verdict.INTERNAL_ERROR, Fault.PLATFORM) == (build.verdict, build.failure.fault)
    assert "problem can't be compiled for the device CPU: task.h:1: " in build.failure.message


_INLINE = "from torch.utils.cpp_extension import load_inline\nSOURCE = '__global__ void f() {}'\n"


@pytest.mark.parametrize(
    ("lang", "text", "vendor", "expected"),
    [
        (Lang.CU, _KERNEL, Vendor.CPU, True),
        (Lang.CU, _KERNEL, Vendor.NVIDIA, False),
        (Lang.PY, _INLINE, Vendor.CPU, True),
        (Lang.PY, _INLINE, Vendor.NVIDIA, False),
        (Lang.PY, "import torch\n", Vendor.CPU, False),
        (Lang.CPP, "int x;\n", Vendor.CPU, False),
    ],
)
@pytest.mark.parametrize("mode", Mode)
def test_only_tests_are_for_kernels_on_the_processor(
    lang: Lang, text: str, vendor: Vendor, expected: bool, mode: Mode
) -> None:
    job: JobSpec = dataclasses.replace(
        _job(text, lang), device=DeviceSpec("here", vendor), mode=mode
    )
    assert expected == has_kernels_on_cpu(job)
    assert (expected and mode is not Mode.TEST) == bool(why_no_time(job))


_HIP = _INLINE.replace("'__", "'#include <hip/hip_runtime.h>\\n__")


@pytest.mark.parametrize(
    ("text", "checked", "expected"),
    [
        (_INLINE, False, (KERNELS_ON_CPU_NOTE,)),
        (_INLINE, True, (KERNELS_ON_CPU_NOTE, CHECKED_NOTE)),
        (_HIP, False, (KERNELS_ON_CPU_NOTE, HIP_NOTE)),
    ],
)
def test_a_report_says_how_its_kernels_ran(
    text: str, checked: bool, expected: tuple[str, ...]
) -> None:
    job = dataclasses.replace(
        _job(text, Lang.PY), device=DeviceSpec("here", Vendor.CPU), checked=checked
    )
    assert has_kernels_on_cpu(job)
    assert expected == notes_on_cpu(job)
    late, crashed = (
        PhaseResult(Phase.TEST, verdict, 1.0, (CaseResult("size: 1", verdict, message),))
        for verdict, message in (
            (Verdict.TIME_LIMIT, "late"),
            (Verdict.RUNTIME_ERROR, "The submission was ended by SIGABRT (Aborted)."),
        )
    )
    assert (LATE_NOTE, *expected) == notes_on_cpu(job, [late])
    assert (*(() if checked else (CRASHED_NOTE,)), *expected) == notes_on_cpu(job, [crashed])


def test_flags_that_only_nvcc_knows_are_left_out() -> None:
    given = ("-O3", "--use_fast_math", "-DN=1", "-arch=sm_90a", "-Xptxas=-v", "-Iinclude")
    assert ("-DN=1", "-Iinclude") == tuple(flag for flag in flags_for_cpu(given) if flag in given)
