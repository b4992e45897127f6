"""What a Python file compiles for itself, built before a GPU is taken: in a runner that sees none.

`load_inline` compiles while the file is imported. Triton compiles when a kernel is first called,
for each kind of arguments, and CuTe DSL when the file asks for it: so the kernel is called with the
problem's cases, and launches nothing.
The data of these calls are made from a seed of their own, so what the file leaves can't hold an
answer. A file that can't do without the GPU fails here, and compiles later, as it would without
this.
"""

import base64
import contextlib
import hashlib
import json
import random
import re
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace

from kernelbot.harness.inside.cage.loader import ProblemBroken, shared_files, shared_modules
from kernelbot.harness.inside.gpu.gpu_model import gpu_model
from kernelbot.harness.inside.gpu.hip_toolchain import toolchain_name
from kernelbot.harness.judge.authors import Contestant, authors_of
from kernelbot.harness.judge.build.cache import BuildCache, CachedBuild
from kernelbot.harness.judge.build.place import (
    COMPILERS,
    PACKAGES,
    compiler_version,
    package_version,
)
from kernelbot.harness.judge.calls.session import Session
from kernelbot.harness.judge.problem.cage import Cage
from kernelbot.harness.judge.problem.examiner import Examiner
from kernelbot.harness.judge.system import cpu_model
from kernelbot.harness.sandbox import RunnerClient
from kernelbot.harness.words.failures import (
    AuthorFailure,
    while_compiling,
    while_only_compiling,
)
from kernelbot.harness.words.plan import Plan
from kernelbot.harness.words.seeds import with_seed
from kernelbot.protocol import (
    Case,
    CaseValue,
    CompileReport,
    EventKind,
    JobSpec,
    Lang,
    ProblemSpec,
    ProgressEvent,
    Vendor,
    Verdict,
)
from kernelbot.protocol.building import (
    AT_IMPORT,
    CALLED,
    compiles_at_import,
    compiles_when_called,
    has_build_step,
)
from kernelbot.protocol.result_size import MAX_TEXT

_SHARE_OF_CALLS = 0.5
"""The part of the compile limit that calls get."""
_COMMAND = "import"
_CUTE = "nvidia-cutlass-dsl"
"""What it builds is read here, and used nowhere: another version elsewhere makes no difference."""
_PASS_ERROR = re.compile(r"(\S{1,300}?)(:\d{1,7}:\d{1,7}: error: .+)")
_PASSES_FAILED = "Failures have been detected while processing"
"""What follows each such error, at the kernel's first line."""
_MOST_SAID, _LONGEST_LINE, _MOST_ERRORS = 1 << 20, 1000, 5
Emit = Callable[[ProgressEvent], None]


def builds_ahead(job: JobSpec) -> bool:
    """Whether a file of the job's mentions what can be compiled without its GPU. A mention that
    means nothing costs an import beside the GPU; without one nothing is lost but time on it."""
    if job.problem.lang is not Lang.PY:
        return False
    return any(
        has_build_step(one) and (compiles_at_import(text) or _compiles_when_called(one, text))
        for one in (author.job(job) for author in authors_of(job))
        for text in (one.submission.text,)
    )


def _compiles_when_called(job: JobSpec, text: str) -> bool:
    known = gpu_model(job.device.vendor, job.device.arch) is not None
    return known and compiles_when_called(text)


def build_ahead(
    job: JobSpec, client: RunnerClient, emit: Emit, cache: BuildCache | None
) -> tuple[str, ...]:
    """What each author's file has built, in base 64, the submission's first; empty if nothing.

    Raises `SandboxUnavailable`.
    """
    found = [build_file(job, author, client, emit, cache) for author in authors_of(job)]
    return tuple(base64.b64encode(build.binary).decode() for build in found)


def build_file(
    job: JobSpec, author: Contestant, client: RunnerClient, emit: Emit, cache: BuildCache | None
) -> CachedBuild:
    """What one author's file has built, and in the report's output what failed meanwhile; nothing
    of that is a refusal. Raises `SandboxUnavailable`."""
    key = _key(job, author)
    kept = cache.load(key) if cache is not None else None
    if kept is not None:
        build = CachedBuild(replace(kept.report, cached=True), kept.binary)
    else:
        build = _built(job, author, client)
        if cache is not None and build.binary:
            cache.store(key, build.report, build.binary)
    if build.binary:
        emit(
            ProgressEvent(
                EventKind.COMPILED,
                verdict=Verdict.ACCEPTED,
                duration_s=build.report.spent_s,
                of_opponent=author.is_opponent,
            )
        )
    return build


def give(builds: tuple[str, ...], authors: tuple[Contestant, ...]) -> None:
    """Give each author what `build_ahead` found."""
    for author, packed in zip(authors, builds, strict=False):
        author.builds = base64.b64decode(packed)


def _built(job: JobSpec, author: Contestant, client: RunnerClient) -> CachedBuild:
    spec = job.problem
    start = time.monotonic()
    deadline = start + spec.timeouts.compile_s
    session = Session(client, job.limits, shared_modules(spec), deadline)
    troubles: list[str] = []
    packed = b""
    try:
        session.setup(shared_files(spec), "cpu", spec.fresh_output, None, is_first=True)
        session.load(author.source, spec.submission_name)
        if _compiles_when_called(job, author.source.text):
            packed = _built_by_calls(job, client, session, troubles)
        else:
            packed = session.builds()
    except AuthorFailure as error:  # where it counts, it is told
        told = while_compiling(error, spec.timeouts.compile_s, deadline)
        if error.verdict is Verdict.MEMORY_LIMIT:
            told = while_only_compiling(error, spec.timeouts.compile_s, job.limits)
        troubles.append(_in_words(AT_IMPORT, told))
        with contextlib.suppress(AuthorFailure):  # what was compiled before it failed
            packed = session.builds() if job.build_only else b""
    finally:
        said = session.abort().stderr
    duration_s = time.monotonic() - start
    if troubles:
        troubles += _said_by_triton(said, spec.submission_name)
    output = "\n".join(troubles)[:MAX_TEXT]
    return CachedBuild(CompileReport(_COMMAND, output, duration_s, cached=False), packed)


def _said_by_triton(said: str, name: str) -> list[str]:
    """The errors that Triton's passes print, at lines of the author's file, and raise without."""
    found: dict[str, None] = {}
    for line in said[:_MOST_SAID].splitlines():
        match = _PASS_ERROR.match(line[:_LONGEST_LINE])
        if match is not None and match[1].rpartition("/")[2] == name:
            found[f"{name}{match[2]}"] = None
    return [text for text in found if _PASSES_FAILED not in text][:_MOST_ERRORS]


def _in_words(when: str, error: AuthorFailure | ProblemBroken) -> str:
    evidence = error.evidence if isinstance(error, AuthorFailure) else ""
    return "\n".join(part for part in (f"{when}:", str(error), evidence.strip()) if part)


def _built_by_calls(
    job: JobSpec, client: RunnerClient, session: Session, troubles: list[str]
) -> bytes:
    """What the loaded file has built once it was called, as far as the calls have got. Raises
    `AuthorFailure` if it is gone before the first."""
    found = session.builds()
    limit_s = _SHARE_OF_CALLS * job.problem.timeouts.compile_s
    session.deadline = min(session.deadline, time.monotonic() + limit_s)
    when = CALLED
    with contextlib.closing(Cage(job, client)) as cage:
        examiner = Examiner(cage, Plan.for_job(job))
        try:
            for arguments in _kinds_of_calls(job.problem):
                when = f"{CALLED} with {Case(arguments).spec}"
                cage.patience_s = max(session.deadline - time.monotonic(), 0.0)
                given = examiner.ask(arguments, None).given
                try:
                    session.call(given)  # its output is of no use
                except AuthorFailure as error:
                    told = while_only_compiling(error, limit_s, job.limits)
                    troubles.append(_in_words(when, told))
                    if error.fatal:
                        break
                found = session.builds() or found
        except AuthorFailure as error:  # where it counts, it is told
            troubles.append(_in_words(when, while_only_compiling(error, limit_s, job.limits)))
        except ProblemBroken as error:
            troubles.append(_in_words(when, error))
    return found


def _kinds_of_calls(problem: ProblemSpec) -> Iterator[dict[str, CaseValue]]:
    """The arguments of the problem's cases, each once, and the seed of none of its runs."""
    seed = random.SystemRandom().getrandbits(31)
    seen: list[dict[str, CaseValue]] = []
    for case in (*problem.tests, *problem.benchmarks):
        arguments = with_seed(case.args, seed)
        if arguments not in seen:
            seen.append(arguments)
            yield arguments


def _key(job: JobSpec, author: Contestant) -> str:
    """The digest of everything that a build depends on, as far as it can be named: another
    interpreter or torch in the same place is another version."""
    files = {file.name: file.text for file in job.problem.files}
    cases = [dict(case.args) for case in (*job.problem.tests, *job.problem.benchmarks)]
    ingredients = [
        author.source.text,
        job.problem.submission_name,
        files,
        cases,
        job.device.arch,
        job.report_only,
        sys.version,
        [package_version(tool) for tool in (*PACKAGES, _CUTE)],
        [compiler_version(tool) for tool in COMPILERS],
        cpu_model(),
        toolchain_name(job.device.arch or "") if job.device.vendor is Vendor.AMD else "",
    ]
    return "own-" + hashlib.sha256(json.dumps(ingredients, sort_keys=True).encode()).hexdigest()
