"""A problem that is compiled, and what build steps leave of it."""

import base64
import hashlib
import zlib
from dataclasses import replace

from kernelbot.boards.model import ProblemDefinition
from kernelbot.protocol import (
    BuildConfig,
    BuildEnvironment,
    CompileReport,
    Failure,
    Fault,
    JobSpec,
    Lang,
    Product,
    RunResult,
    SandboxReport,
    SystemInfo,
    Verdict,
)
from tests.support.problems import sort_problem

ERROR = "submission.cpp:1: error: a'; echo x"


def compiled_sort() -> ProblemDefinition:
    """To be solved in C++."""
    sort = sort_problem()
    config = BuildConfig(sources=("submission.cpp",))
    spec = replace(sort.spec, lang=Lang.CPP, submission_name="submission.cpp", config=config)
    return replace(sort, spec=spec, templates={"C++": "int x;"})


def product_of(content: bytes) -> Product:
    """As a builder packs it."""
    packed = zlib.compress(content)
    return Product(
        base64.b64encode(packed).decode(),
        hashlib.sha256(packed).hexdigest(),
        BuildEnvironment("x86_64", "glibc 2.36"),
        CompileReport("g++", "a warning", 2.0, cached=False),
    )


def built(step: JobSpec, product: Product | None) -> RunResult:
    """The result of a build step that went well."""
    return RunResult(
        job_id=step.job_id,
        problem=step.problem.name,
        mode=step.mode,
        harness=step.problem.harness,
        verdict=Verdict.ACCEPTED,
        system=SystemInfo("builder", "", "", "3", None),
        sandbox=SandboxReport("required", (), ()),
        compile=product.report if product else None,
        product=product,
    )


def refused(step: JobSpec, verdict: Verdict = Verdict.COMPILE_ERROR) -> RunResult:
    """The result of one that didn't."""
    fault = Fault.PLATFORM if verdict is Verdict.INTERNAL_ERROR else Fault.AUTHOR
    report = CompileReport("g++", ERROR, 2.0, cached=False)
    failure = Failure(fault, ERROR)
    return replace(built(step, None), verdict=verdict, failure=failure, compile=report)
