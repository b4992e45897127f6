import dataclasses
import shutil
from pathlib import Path

import pytest

from kernelbot.harness.judge.build.cache import BuildCache
from kernelbot.harness.judge.build.compile import CompilerProduct, compile_job
from kernelbot.harness.sandbox import RunnerClient, run_command
from kernelbot.protocol import (
    BuildConfig,
    DeviceSpec,
    Fault,
    HarnessKind,
    JobSpec,
    Lang,
    Limits,
    Mode,
    ProblemSpec,
    SourceFile,
    Timeouts,
    Vendor,
    Verdict,
)

_HEADER = SourceFile("task.h", 'extern "C" int twice(int);\n')
_GOOD = '#include "task.h"\nint twice(int x) { return 2 * x; }\n'


def _job(source: str, lang: Lang = Lang.CPP, **config: object) -> JobSpec:
    problem = ProblemSpec(
        name="twice",
        lang=lang,
        harness=HarnessKind.NATIVE,
        harness_reason="",
        files=(_HEADER, SourceFile("reference.py", "SECRET = 1\n")),
        submission_name=f"submission.{'cu' if lang is Lang.CU else 'cpp'}",
        config=BuildConfig(**config),  # type: ignore[arg-type] # checked where a test passes it
        tests=(),
        benchmarks=(),
        timeouts=Timeouts(compile_s=20),
    )
    return JobSpec(
        job_id="1",
        problem=problem,
        submission=SourceFile("mine.cpp", source),
        mode=Mode.TEST,
        device=DeviceSpec("CPU", Vendor.CPU),
        limits=Limits(memory_bytes=1 << 30),
    )


def test_a_shared_object_is_built(client: RunnerClient) -> None:
    build = compile_job(_job(_GOOD), client, CompilerProduct.SHARED_OBJECT)
    assert (Verdict.ACCEPTED, b"\x7fELF") == (build.verdict, build.binary[:4])


def test_a_program_is_built_from_all_sources(client: RunnerClient) -> None:
    main = SourceFile("main.cpp", '#include "task.h"\nint main() { return twice(VALUE); }\n')
    job = _job(_GOOD, sources=("main.cpp", "submission.cpp"), defines={"VALUE": "21"})
    problem = dataclasses.replace(job.problem, files=(*job.problem.files, main))
    build = compile_job(dataclasses.replace(job, problem=problem), client, CompilerProduct.PROGRAM)
    assert Verdict.ACCEPTED == build.verdict
    files = {"program": build.binary}
    result = run_command(
        client, ["sh", "-c", "chmod +x program; ./program"], files=files, timeout_s=60
    )
    assert 42 == result.exit_code


def test_a_mistake_is_a_compile_error_that_names_the_line(client: RunnerClient) -> None:
    build = compile_job(_job("int twice(int x) {"), client, CompilerProduct.SHARED_OBJECT)
    assert build.failure is not None
    assert build.report is not None
    assert (Verdict.COMPILE_ERROR, Fault.AUTHOR) == (build.verdict, build.failure.fault)
    assert "submission.cpp:1:" in build.failure.message
    assert build.failure.message in build.report.output


def test_warnings_of_a_good_build_are_shown(client: RunnerClient) -> None:
    build = compile_job(_job(_GOOD + "#warning look here\n"), client, CompilerProduct.SHARED_OBJECT)
    assert build.report is not None
    assert (Verdict.ACCEPTED, True) == (build.verdict, "look here" in build.report.output)


def test_the_reference_cannot_be_included(client: RunnerClient) -> None:
    build = compile_job(_job('#include "reference.py"\n'), client, CompilerProduct.SHARED_OBJECT)
    assert build.failure is not None
    assert "reference.py: No such file" in build.failure.message


@pytest.mark.parametrize(
    "bomb",
    [
        '#include "/dev/zero"\n',
        (
            "template<int N> struct A { static const int v = A<N + 1>::v + A<N + 2>::v; };\n"
            "int x = A<0>::v;\n"
        ),
        '#include "submission.cpp"\n#include "submission.cpp"\n',
        "int a[1l << 40] = {1};\n",
    ],
)
def test_a_bomb_ends_as_the_authors_failure(client: RunnerClient, bomb: str) -> None:
    build = compile_job(_job(bomb), client, CompilerProduct.SHARED_OBJECT)
    assert build.failure is not None
    assert Fault.AUTHOR == build.failure.fault
    assert build.verdict in (Verdict.COMPILE_ERROR, Verdict.TIME_LIMIT)
    after = compile_job(_job(_GOOD), client, CompilerProduct.SHARED_OBJECT)
    assert Verdict.ACCEPTED == after.verdict


def test_of_thousands_of_errors_the_first_is_told(client: RunnerClient) -> None:
    source = "int f() {\n" + "".join(f"  unknown_{n} = {n};\n" for n in range(5000)) + "}\n"
    build = compile_job(_job(source), client, CompilerProduct.SHARED_OBJECT)
    assert build.failure is not None
    assert build.report is not None
    assert (Verdict.COMPILE_ERROR, True, 50) == (
        build.verdict,
        "unknown_0" in build.failure.message,
        build.report.output.count("error: "),
    )


def test_the_same_source_is_compiled_once(client: RunnerClient, tmp_path: Path) -> None:
    cache = BuildCache(tmp_path / "cache")
    first, second = (
        compile_job(_job(_GOOD), client, CompilerProduct.SHARED_OBJECT, cache) for _ in range(2)
    )
    assert first.report is not None
    assert second.report is not None
    assert (False, True) == (first.report.cached, second.report.cached)
    assert first.binary == second.binary


@pytest.mark.parametrize("change", ["source", "flags", "header"])
def test_any_change_is_compiled_anew(client: RunnerClient, tmp_path: Path, change: str) -> None:
    cache = BuildCache(tmp_path / "cache")
    compile_job(_job(_GOOD), client, CompilerProduct.SHARED_OBJECT, cache)
    job = _job(_GOOD + ("\n" if change == "source" else ""))
    if change == "flags":
        job = _job(_GOOD, compile_flags=("-O1",))
    if change == "header":
        header = SourceFile("task.h", _HEADER.text + "\n")
        job = dataclasses.replace(job, problem=dataclasses.replace(job.problem, files=(header,)))
    build = compile_job(job, client, CompilerProduct.SHARED_OBJECT, cache)
    assert build.report is not None
    assert build.report.cached is False


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not installed here")
def test_an_nvcc_that_does_not_know_the_gpu_is_quoted(client: RunnerClient) -> None:
    job = _job("", Lang.CU)
    unknown = DeviceSpec("Next", Vendor.NVIDIA, "9999")
    build = compile_job(
        dataclasses.replace(job, device=unknown), client, CompilerProduct.SHARED_OBJECT
    )
    assert build.failure is not None
    assert "nvcc fatal   : Unsupported gpu architecture 'compute_9999'" == build.failure.message


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not installed here")
def test_cuda_on_a_gpu_of_another_vendor_is_compiled_and_then_refused(client: RunnerClient) -> None:
    source = "__global__ void scale(float* a) { a[threadIdx.x] *= 2; }\n"
    job = dataclasses.replace(_job(source, Lang.CU), device=DeviceSpec("MI300", Vendor.AMD))
    build = compile_job(job, client, CompilerProduct.SHARED_OBJECT)
    assert build.failure is not None
    assert build.report is not None
    assert (Verdict.INTERNAL_ERROR, Fault.PLATFORM) == (build.verdict, build.failure.fault)
    assert "needs an NVIDIA GPU" in build.failure.message
    assert ["scale(float*)"] == [kernel["name"] for kernel in build.report.kernels]


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not installed here")
def test_a_mistake_in_cuda_is_the_authors(client: RunnerClient) -> None:
    job = dataclasses.replace(
        _job("__global__ int f() {}", Lang.CU), device=DeviceSpec("MI300", Vendor.AMD)
    )
    build = compile_job(job, client, CompilerProduct.SHARED_OBJECT)
    assert build.failure is not None
    assert (Verdict.COMPILE_ERROR, Fault.AUTHOR) == (build.verdict, build.failure.fault)


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not installed here")
@pytest.mark.timeout(400)  # some ten seconds of a processor, which others may share
@pytest.mark.exhaustive
def test_a_program_of_nvccs_that_needs_too_much_memory_is_ended(client: RunnerClient) -> None:
    """It would take some 20 GB."""
    source = (
        "#include <utility>\n"
        "template <int... I> constexpr long total(std::integer_sequence<int, I...>) {\n"
        "    return sizeof...(I);\n}\n"
        "__device__ long sum_of_all = total(std::make_integer_sequence<int, 30000000>());\n"
    )
    job = _job(source, Lang.CU)
    problem = dataclasses.replace(job.problem, timeouts=Timeouts(compile_s=300))
    device = DeviceSpec("H100", Vendor.NVIDIA, "90a")
    job = dataclasses.replace(job, device=device, problem=problem)
    build = compile_job(job, client, CompilerProduct.SHARED_OBJECT)
    assert build.failure is not None
    assert (Verdict.COMPILE_ERROR, Fault.AUTHOR) == (build.verdict, build.failure.fault)
    assert "needed more than 1 GiB of memory" in build.failure.message
