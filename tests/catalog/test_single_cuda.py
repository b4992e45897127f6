"""Boards from one reference file in CUDA. Without a GPU the program is built with a CUDA runtime
that does nothing; the compiler of the CUDA toolkit is asked too if it is there."""

import shutil
from dataclasses import replace

import pytest

from kernelbot.catalog.single_reference import problem_of
from kernelbot.domain.errors import InvalidProblem
from kernelbot.protocol import (
    DeviceSpec,
    Fault,
    JobSpec,
    Lang,
    Mode,
    ProblemSpec,
    RunResult,
    SourceFile,
    Vendor,
    Verdict,
)
from kernelbot.server.judge_once import judge_once
from kernelbot.server.settings import Settings
from tests.support.exhaustive import cases, few

REFERENCE = """\
// Double every number.
//
#include <array>
#include <cstdlib>
#include <vector>

constexpr int N_SIZES = 2;
using input_t = std::array<std::vector<float>, N_SIZES>;
using output_t = input_t;

input_t generate_input() {
    input_t data;
    for (auto& one : data) {
        one.resize(16);
        for (auto& x : one) x = std::rand() % 100;
    }
    return data;
}

output_t reference(input_t data) {
    for (auto& one : data)
        for (auto& x : one) x *= 2;
    return data;
}

bool check_implementation(output_t out, output_t ref) { return out == ref; }
"""
SEEDED = """\
using input_t = long;
using output_t = long;
input_t generate_input(int seed, int more = 1) { return seed + more; }
output_t reference(input_t data) { return -data; }
bool check_implementation(output_t out, output_t ref) { return out == ref; }
"""
RIGHT = """\
#include "reference.cuh"
#define say broken
output_t custom_kernel(input_t data) {
    for (auto& one : data)
        for (auto& x : one) x += x;
    return data;
}
"""
THROWS = """\
#include <stdexcept>
output_t custom_kernel(input_t) { throw std::logic_error("the answer is no"); }
"""
_NO_RUNTIME = """\
using cudaError_t = int;
constexpr cudaError_t cudaSuccess = 0;
inline cudaError_t cudaFree(void*) { return 0; }
inline cudaError_t cudaGetLastError() { return 0; }
inline cudaError_t cudaDeviceSynchronize() { return 0; }
inline const char* cudaGetErrorString(cudaError_t) { return ""; }
"""


def spec_of(reference: str) -> ProblemSpec:
    return problem_of("double", "reference.cu", reference).spec


def judged(reference: str, submission: str, mode: Mode = Mode.TEST) -> RunResult:
    """By the harness, as C++ over a CUDA runtime that does nothing."""
    spec = spec_of(reference)
    spec = replace(
        spec,
        lang=Lang.CPP,
        config=replace(spec.config, compile_flags=("-xc++",)),
        files=(*spec.files, SourceFile("cuda_runtime.h", _NO_RUNTIME)),
    )
    return judge_once(job(spec, submission, mode), lambda _: None)


def job(spec: ProblemSpec, submission: str, mode: Mode = Mode.TEST) -> JobSpec:
    settings = Settings()
    return JobSpec(
        job_id="1",
        problem=spec,
        submission=SourceFile("submission.cu", submission),
        mode=mode,
        device=DeviceSpec("CPU", Vendor.CPU),
        limits=settings.limits,
        sampling=settings.sampling,
        sandbox=settings.sandbox,
        seed=7 if mode is Mode.LEADERBOARD else None,
    )


def test_a_right_submission_is_tested_measured_and_ranked() -> None:
    result = judged(REFERENCE, RIGHT, Mode.LEADERBOARD)
    assert (Verdict.ACCEPTED, 5) == (result.verdict, len(result.phases[0].cases))
    assert [0, 1] == [len(phase.workloads) for phase in result.phases]
    (workload,) = result.phases[1].workloads
    assert 0 < workload.best_ns <= workload.mean_ns <= workload.worst_ns


@pytest.mark.exhaustive  # each run has test_a_right_submission_is_tested_measured_and_ranked
def test_a_wrong_one_is_told_which_case_failed() -> None:
    result = judged(REFERENCE, RIGHT.replace("x += x", "x += 1"))
    assert Verdict.WRONG_ANSWER == result.verdict
    assert "the output isn't what the reference gives" == result.phases[0].cases[0].message


@pytest.mark.exhaustive  # each run has test_a_right_submission_is_tested_measured_and_ranked
def test_a_seeded_generator_is_called_with_each_cases_seed() -> None:
    knows = "output_t custom_kernel(input_t data) { return data == 4243 ? -4243 : 0; }"
    result = judged(SEEDED, knows)
    assert [Verdict.ACCEPTED, *[Verdict.WRONG_ANSWER] * 4] == [
        case.verdict for case in result.phases[0].cases
    ]


@pytest.mark.exhaustive  # each run has test_a_right_submission_is_tested_measured_and_ranked
@pytest.mark.parametrize(
    ("submission", "verdict", "said"),
    few(
        [
            (THROWS, Verdict.RUNTIME_ERROR, "the answer is no"),
            ("", Verdict.COMPILE_ERROR, "undefined reference"),
            ("int main() {}", Verdict.COMPILE_ERROR, "main"),
        ],
        1,
    ),
)
def test_what_does_not_work_is_the_authors(submission: str, verdict: Verdict, said: str) -> None:
    result = judged(REFERENCE, submission)
    assert result.failure is not None
    assert (verdict, Fault.AUTHOR, True) == (
        result.verdict,
        result.failure.fault,
        said in result.failure.message + result.failure.evidence,
    )


@pytest.mark.exhaustive  # each run has test_a_right_submission_is_tested_measured_and_ranked
@pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not installed here")
@pytest.mark.parametrize("reference", cases([REFERENCE, SEEDED], always=[REFERENCE]))
def test_the_toolkits_compiler_accepts_it_and_the_template(reference: str) -> None:
    definition = problem_of("double", "reference.cuh", reference)
    made = job(definition.spec, definition.templates["CUDA"])
    device = DeviceSpec("H100", Vendor.NVIDIA, arch="90a")
    result = judge_once(replace(made, device=device, build_only=True), lambda _: None)
    assert (Verdict.ACCEPTED, None) == (result.verdict, result.failure)


@pytest.mark.exhaustive  # each run has test_a_right_submission_is_tested_measured_and_ranked
def test_a_machine_without_a_gpu_runs_the_template() -> None:
    definition = problem_of("double", "reference.cuh", REFERENCE)
    result = judge_once(job(definition.spec, definition.templates["CUDA"]), lambda _: None)
    assert result.failure is not None
    assert "custom_kernel isn't written yet" in result.failure.message


def test_the_first_comment_is_the_statement() -> None:
    assert "Double every number." == problem_of("double", "r.cu", REFERENCE).description
    block = problem_of("double", "r.cu", "/* Negate\n * it. */\n" + SEEDED)
    assert ("Negate\nit.", "As fast as you can: x.") == (
        block.description,
        problem_of("x", "r.cu", SEEDED).description,
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "defines no type input_t and no type output_t and no function generate_input"),
        (REFERENCE.replace("reference(", "ref("), "defines no function reference"),
        (f"/* {SEEDED} */", "defines no type input_t"),
        (SEEDED.replace("int seed, ", "int size, "), "generate_input needs what"),
        (SEEDED.replace("int more = 1", "int more"), "generate_input needs what"),
    ],
)
def test_what_is_missing_is_said(text: str, said: str) -> None:
    with pytest.raises(InvalidProblem, match=said):
        problem_of("double", "r.cu", text)


def test_hostile_texts_are_read_once() -> None:
    for text in ("/*" * 500_000, "generate_input(" * 60_000, "//" + " " * 1_000_000):
        with pytest.raises(InvalidProblem):
            spec_of(text)
        with pytest.raises(InvalidProblem):
            spec_of(f"{SEEDED.replace('int seed, int more = 1', 'int more')}{text}")
