"""What a Python file compiles for itself, built before a GPU is taken: in a runner that sees none.

`load_inline` compiles while the file is imported. Triton compiles when a kernel is first called,
for each kind of arguments: so the kernel is called with the problem's cases, and launches nothing.
The data of these calls are made from a seed of their own, so what the file leaves can't hold an
answer. A file that can't do without the GPU fails here, and compiles later, as it would without
this.
"""

import base64
import contextlib
import hashlib
import json
import random
import sys
import time
from collections.abc import Callable, Iterator

from kernelbot.harness.inside.cage.loader import ProblemBroken, shared_files, shared_modules
from kernelbot.harness.inside.gpu.gpu_model import gpu_model
from kernelbot.harness.judge.authors import Author, authors_of
from kernelbot.harness.judge.build.cache import BuildCache
from kernelbot.harness.judge.build.place import PACKAGES, package_version
from kernelbot.harness.judge.calls.session import Session
from kernelbot.harness.judge.problem.examiner import Cage, CagedExaminer
from kernelbot.harness.judge.system import cpu_model
from kernelbot.harness.sandbox import RunnerClient
from kernelbot.harness.words.failures import AuthorFailure
from kernelbot.harness.words.seeds import with_seed
from kernelbot.protocol import (
    CaseValue,
    CompileReport,
    EventKind,
    JobSpec,
    Lang,
    ProblemSpec,
    ProgressEvent,
    Verdict,
)
from kernelbot.protocol.building import compiles_at_import, compiles_when_called, has_build_step

_SHARE_OF_CALLS = 0.5
"""Of the compile limit."""
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
    found = []
    for author in authors_of(job):
        key = _key(job, author)
        kept = cache.load(key) if cache is not None else None
        start = time.monotonic()
        packed = kept.binary if kept is not None else _built(job, author, client)
        duration_s = time.monotonic() - start
        if cache is not None and kept is None and packed:
            cache.store(key, CompileReport("import", "", duration_s, cached=False), packed)
        found.append(base64.b64encode(packed).decode())
        if packed:
            emit(
                ProgressEvent(
                    EventKind.COMPILED,
                    verdict=Verdict.ACCEPTED,
                    duration_s=duration_s,
                    of_opponent=author.is_opponent,
                )
            )
    return tuple(found)


def give(builds: tuple[str, ...], authors: tuple[Author, ...]) -> None:
    """Give each author what `build_ahead` found."""
    for author, packed in zip(authors, builds, strict=False):
        author.builds = base64.b64decode(packed)


def _built(job: JobSpec, author: Author, client: RunnerClient) -> bytes:
    spec = job.problem
    deadline = time.monotonic() + spec.timeouts.compile_s
    session = Session.start(client, job.limits, shared_modules(spec), deadline)
    try:
        session.setup(shared_files(spec), "cpu", spec.fresh_output, None)
        session.load(author.source, spec.submission_name)
        if _compiles_when_called(job, author.source.text):
            return _built_by_calls(job, client, session)
        return session.builds()
    except AuthorFailure:  # where it counts, it is told
        return b""
    finally:
        session.abort()


def _built_by_calls(job: JobSpec, client: RunnerClient, session: Session) -> bytes:
    """What the loaded file has built once it was called, as far as the calls have got. Raises
    `AuthorFailure` if it is gone before the first."""
    found = session.builds()
    limit_s = _SHARE_OF_CALLS * job.problem.timeouts.compile_s
    session.deadline = min(session.deadline, time.monotonic() + limit_s)
    with contextlib.closing(Cage(job, client)) as cage:
        examiner = CagedExaminer(cage, job)
        with contextlib.suppress(AuthorFailure, ProblemBroken):  # where it counts, it is told
            for arguments in _kinds_of_calls(job.problem):
                cage.patience_s = max(session.deadline - time.monotonic(), 0.0)
                given = examiner.ask(arguments, None).given
                with contextlib.suppress(AuthorFailure):  # its output is of no use
                    session.call(given)
                found = session.builds() or found
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


def _key(job: JobSpec, author: Author) -> str:
    """Of everything that a build depends on, as far as it can be named: another interpreter or
    torch in the same place is another version."""
    files = {file.name: file.text for file in job.problem.files}
    cases = [dict(case.args) for case in (*job.problem.tests, *job.problem.benchmarks)]
    ingredients = [
        author.source.text,
        job.problem.submission_name,
        files,
        cases,
        job.device.arch,
        sys.version,
        [package_version(tool) for tool in PACKAGES],
        cpu_model(),
    ]
    return "own-" + hashlib.sha256(json.dumps(ingredients, sort_keys=True).encode()).hexdigest()
