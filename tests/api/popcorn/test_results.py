"""Results as a problem's own script would have reported them."""

import base64
import io
import zipfile
from dataclasses import replace

from kernelbot.api.popcorn.results import full_result, phase_values
from kernelbot.protocol import (
    Artifact,
    CompileReport,
    Mode,
    Phase,
    PhaseResult,
    Verdict,
    WorkloadResult,
)
from tests.api.popcorn.test_submissions import FAILED, RUN

WORKLOAD = WorkloadResult("size: 8", (10.0, 12.0, 14.0), 12.0, 12.0, 2.0, (10.0, 14.0), 10.0, 14.0)
BENCHMARK = PhaseResult(Phase.BENCHMARK, Verdict.ACCEPTED, 0.5, workloads=(WORKLOAD,))
PROFILE = replace(BENCHMARK, phase=Phase.PROFILE)
REPORT = Artifact("profile.0.txt", "text/plain", base64.b64encode(b"a table").decode())
SECOND = replace(REPORT, name="profile.1.txt")
TRACE = Artifact("../trace.json", "application/json", base64.b64encode(b"{}").decode())


def test_tests_are_numbered_with_status_and_error() -> None:
    assert {
        "test-count": "2",
        "test.0.spec": "size: 1",
        "test.0.status": "pass",
        "test.1.spec": "size: 2",
        "test.1.status": "fail",
        "test.1.error": "the output isn't sorted",
        "check": "fail",
    } == phase_values(FAILED.phases[0])


def test_benchmarks_are_in_nanoseconds() -> None:
    values = phase_values(BENCHMARK)
    assert ("1", "3", "12.0", "10.0", "14.0") == (
        values["benchmark-count"],
        values["benchmark.0.runs"],
        values["benchmark.0.mean"],
        values["benchmark.0.best"],
        values["benchmark.0.worst"],
    )


def test_a_scripts_own_keys_are_kept() -> None:
    phase = replace(BENCHMARK, workloads=(replace(WORKLOAD, extra={"speedup": "2.0"}),))
    assert "2.0" == phase_values(phase)["benchmark.0.speedup"]


def test_processors_and_what_to_do_about_threads_that_are_too_many_are_told() -> None:
    system = replace(FAILED.system, processors=1, threads=2)
    told = full_result(replace(RUN, result=replace(FAILED, system=system))).system
    assert 1 == told["processors"]
    assert "Your kernel ran 2 threads on 1 processor" in told["notes"][-1]


def test_output_is_shown_with_the_phase_that_decided() -> None:
    result = replace(FAILED, phases=(BENCHMARK, *FAILED.phases))
    runs = full_result(replace(RUN, result=result)).runs
    assert ("", "hello from the kernel") == (
        runs["benchmark"].run.stdout,
        runs["test"].run.stdout,
    )


def test_a_wrong_answer_came_to_its_end_and_did_not_pass() -> None:
    run = full_result(RUN).runs["test"].run
    assert (True, False, 112) == (run.success, run.passed, run.exit_code)


def test_a_compiler_that_refused_is_heard_on_stderr() -> None:
    built = CompileReport("g++ a.cpp", "error: expected ';'", 0.1, cached=False)
    result = replace(FAILED, verdict=Verdict.COMPILE_ERROR, compile=built)
    compilation = full_result(replace(RUN, result=result)).runs["test"].compilation
    assert compilation
    assert (False, "error: expected ';'") == (compilation.success, compilation.stderr)


def test_a_secret_run_shows_nothing_of_its_result() -> None:
    shown = full_result(replace(RUN, secret=True, message="did not pass"))
    assert "did not pass" == shown.error
    assert {"check": "fail"} == shown.runs["test"].run.result
    assert "hello" not in shown.model_dump_json()


def test_each_report_of_a_profiler_has_its_key_and_an_integer_count() -> None:
    result = replace(FAILED, mode=Mode.PROFILE, phases=(PROFILE,), artifacts=(REPORT, SECOND))
    runs = full_result(replace(RUN, result=result)).runs
    assert ["profile.0", "profile.1"] == list(runs)
    values = runs["profile.0"].run.result
    assert (1, "size: 8", b"a table") == (
        values["benchmark-count"],
        values["benchmark.0.spec"],
        base64.b64decode(str(values["benchmark.0.report"])),
    )


def test_what_a_profiler_left_is_one_archive_whose_names_stay_in_it() -> None:
    result = replace(FAILED, mode=Mode.PROFILE, phases=(PROFILE,), artifacts=(REPORT, TRACE))
    profile = full_result(replace(RUN, result=result)).runs["profile.0"].profile
    assert profile
    archive = zipfile.ZipFile(io.BytesIO(base64.b64decode(profile.trace or "")))
    assert ["profile.0.txt", "_trace.json"] == archive.namelist()


def test_without_a_profiler_the_report_says_what_was_timed() -> None:
    result = replace(FAILED, mode=Mode.PROFILE, phases=(PROFILE,))
    values = full_result(replace(RUN, result=result)).runs["profile.0"].run.result
    text = base64.b64decode(str(values["benchmark.0.report"])).decode()
    assert "No profiler" in text
    assert "size: 8" in text
