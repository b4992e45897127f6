"""What a build step may leave, and that nothing else may leave it."""

import base64
import hashlib
import json
from dataclasses import replace

import pytest

from kernelbot.protocol import (
    BuildEnvironment,
    CompileReport,
    Failure,
    Fault,
    JobSpec,
    Mode,
    Product,
    RunResult,
    SandboxReport,
    SystemInfo,
    Verdict,
    to_wire,
)
from kernelbot.protocol.building import build_job
from kernelbot.protocol.result_rules import held_to
from kernelbot.protocol.result_size import MAX_BYTES, MAX_PRODUCT_BYTES, most_bytes
from kernelbot.protocol.workload_rules import Disagrees
from tests.harness.jobs import SORT, a_job
from tests.support.device_problems import compiled_problem, device_job, device_problem
from tests.support.honest import accepted

WITHIN_S = 60.0
RUN = a_job(SORT)
STEP = build_job(device_job("int x;", Mode.TEST, compiled_problem()), "b1", "builder")
IN_PYTHON = build_job(device_job("", Mode.TEST, device_problem()), "b1", "builder")


def product(content: bytes) -> Product:
    encoded = base64.b64encode(content).decode()
    return Product(encoded, hashlib.sha256(content).hexdigest(), BuildEnvironment("x", "glibc"))


def result(job: JobSpec, verdict: Verdict = Verdict.ACCEPTED) -> RunResult:
    fault = Fault.PLATFORM if verdict is Verdict.INTERNAL_ERROR else Fault.AUTHOR
    return RunResult(
        job_id=job.job_id,
        problem=job.problem.name,
        mode=job.mode,
        harness=job.problem.harness,
        verdict=verdict,
        system=SystemInfo("builder", "", "", "3", None),
        sandbox=SandboxReport("required", (), ()),
        failure=None if verdict is Verdict.ACCEPTED else Failure(fault, "a'; echo x"),
    )


BUILT = replace(result(STEP), product=product(b"built"))


@pytest.mark.parametrize("verdict", [Verdict.COMPILE_ERROR, Verdict.TIME_LIMIT, Verdict.ACCEPTED])
def test_a_compiler_may_end_like_this(verdict: Verdict) -> None:
    assert result(STEP, verdict) == held_to(STEP, result(STEP, verdict), WITHIN_S)


@pytest.mark.parametrize(("cached", "spent_s"), [(False, 1.5), (True, 0.0)])
def test_what_was_compiled_before_takes_no_time(cached: bool, spent_s: float) -> None:
    assert spent_s == CompileReport("g++", "", 1.5, cached=cached).spent_s


def test_a_run_is_held_as_ever() -> None:
    assert accepted(RUN) == held_to(RUN, accepted(RUN), WITHIN_S)


def test_what_was_built_is_kept_whole() -> None:
    assert BUILT == held_to(STEP, BUILT, WITHIN_S)


@pytest.mark.parametrize("size", [1, MAX_PRODUCT_BYTES])
def test_of_any_size_that_may_be_carried(size: int) -> None:
    built = replace(BUILT, product=product(bytes(size)))
    assert built == held_to(STEP, built, WITHIN_S)


def test_the_largest_one_fits_into_what_is_fetched() -> None:
    report = CompileReport("g++", "x" * STEP.limits.output_kept_bytes, 1.0, cached=False)
    largest = replace(product(bytes(MAX_PRODUCT_BYTES)), report=report)
    whole = json.dumps(to_wire(replace(BUILT, product=largest, compile=report)))
    assert len(whole) <= most_bytes(STEP) <= MAX_BYTES


@pytest.mark.parametrize(
    ("job", "bad"),
    [
        (RUN, replace(accepted(RUN), product=product(b"built"))),
        (replace(STEP, report_only=True), BUILT),
        (STEP, replace(BUILT, product=product(b""))),
        (STEP, replace(BUILT, product=product(bytes(MAX_PRODUCT_BYTES + 1)))),
        (STEP, replace(BUILT, product=replace(product(b"built"), sha256="0" * 64))),
        (STEP, replace(BUILT, product=replace(product(b"built"), content_base64="YnVp!bHQ="))),
        (STEP, replace(result(STEP, Verdict.COMPILE_ERROR), product=product(b"built"))),
        (STEP, result(STEP, Verdict.WRONG_ANSWER)),
        (IN_PYTHON, result(IN_PYTHON, Verdict.COMPILE_ERROR)),
    ],
    ids=["run", "report", "empty", "large", "hash", "base64", "refused", "judged", "python"],
)
def test_anything_else_is_no_result(job: JobSpec, bad: RunResult) -> None:
    with pytest.raises(Disagrees):
        held_to(job, bad, WITHIN_S)
