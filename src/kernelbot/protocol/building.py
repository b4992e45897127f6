"""Which files are compiled before a GPU is taken, and the job that does only that.

A build step must not learn what a run may not tell the next one: it has the problem and the source,
and neither a seed nor the mode, the opponent, or whether a run is secret. So the build steps of all
runs of a source are one and the same.
"""

import hashlib
import json
import re
from dataclasses import replace
from enum import StrEnum

from kernelbot.protocol.codec import to_wire
from kernelbot.protocol.enums import HarnessKind, Mode, Vendor
from kernelbot.protocol.job import JobSpec

_COMPILES_AT_IMPORT = ("cpp_extension", "load_inline")
_TRITON = "triton"
_BY_TRITON = (_TRITON, "helion")
"""Helion writes kernels of Triton's."""
_CUTE = re.compile(r"^[ \t]*(?:from[ \t]+cutlass\b|import[ \t][^\n#]*\bcutlass\b)", re.MULTILINE)
"""CUTLASS' headers, which C++ in a Python file includes, are no mention of CuTe DSL."""
_NEEDS_THE_GPU = ("torch.compile", "_inductor")
"""What torch would compile in its place is for a CPU."""

AT_IMPORT, CALLED = "When it was imported", "Called"
"""With these words, up to a colon at the line's end, a Python file's compile report says when
something failed."""


class Side(StrEnum):
    """Whose file a build step is of; as step ids say it."""

    SUBMISSION = "b"
    OPPONENT = "o"


def compiles_at_import(text: str) -> bool:
    """Whether a file mentions what compiles while it is imported."""
    return any(name in text for name in _COMPILES_AT_IMPORT)


def compiles_when_called(text: str) -> bool:
    """Whether a file mentions what compiles at a kernel's first call, and needs no GPU for it."""
    mentioned = any(name in text for name in _BY_TRITON) or imports_cute(text)
    return mentioned and not needs_the_gpu(text)


def needs_the_gpu(text: str) -> bool:
    """Whether a file mentions what torch compiles for the GPU that it finds."""
    return any(name in text for name in _NEEDS_THE_GPU)


def imports_cute(text: str) -> bool:
    """Whether a Python file imports CuTe DSL."""
    return _CUTE.search(text) is not None


def only_cute_compiles(text: str) -> bool:
    """Whether CuTe DSL is all that compiles in a Python file."""
    return imports_cute(text) and _TRITON not in text and not compiles_at_import(text)


def has_build_step(job: JobSpec) -> bool:
    """Whether the submission can be compiled apart from judging it. A mention that means nothing
    costs a build step without a product."""
    problem = job.problem
    if problem.harness is HarnessKind.SCRIPT:
        return False
    if problem.lang.is_compiled:
        return True
    if job.device.vendor is Vendor.CPU or problem.multi_gpu:
        return False
    text = job.submission.text
    return compiles_at_import(text) or compiles_when_called(text)


def build_job(job: JobSpec, job_id: str, builder: str) -> JobSpec:
    """The build step of a job's submission, on the device `builder`, for the job's own. A compiled
    problem's has no case of the problem's."""
    problem = job.problem
    if problem.lang.is_compiled:
        problem = replace(problem, tests=(), benchmarks=(), floors=())
    return JobSpec(
        job_id=job_id,
        problem=problem,
        submission=job.submission,
        mode=Mode.TEST,
        device=replace(job.device, name=builder),
        limits=job.limits,
        sandbox=job.sandbox,
        build_only=True,
    )


def step_id(job_id: str, side: Side, tries: int) -> str:
    """The id of a job's build step; `tries`: how many were lost before."""
    return f"{job_id}.{side}{tries}"


def job_of(job: JobSpec, side: Side) -> JobSpec:
    """The job whose submission is that side's file. The opponent's must be a duel's."""
    return job if side is Side.SUBMISSION else _opponents_job(job)


def _opponents_job(job: JobSpec) -> JobSpec:
    assert job.opponent is not None, "only duels have one"
    return replace(
        job,
        submission=job.opponent,
        product=job.opponent_product,
        opponent=None,
        opponent_product=None,
    )


def build_key(job: JobSpec, builder: str, place: str) -> bytes:
    """By what a build is found again, 32 bytes: all that a build step is told. `place`: names the
    image and release that it is made with, which no job does."""
    ingredients = [place, to_wire(build_job(job, "", builder))]
    return hashlib.sha256(json.dumps(ingredients, sort_keys=True).encode()).digest()
