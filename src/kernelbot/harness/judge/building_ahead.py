"""What a Python file compiles for itself while it is imported, as by `load_inline`, built before a
GPU is taken: in a runner that sees none.

The file meets no data there, so what it leaves can't hold an answer. A file that needs the GPU in
order to be imported fails here, and compiles later, as it would without this.
"""

import base64
import hashlib
import json
import sys
import time
from collections.abc import Callable
from importlib import metadata

from kernelbot.harness.build.cache import BuildCache
from kernelbot.harness.judge.authors import Author, authors_of
from kernelbot.harness.judge.failures import AuthorFailure
from kernelbot.harness.problem.loader import shared_files, shared_modules
from kernelbot.harness.runner_client.session import Session
from kernelbot.harness.sandbox import RunnerClient
from kernelbot.harness.system import cpu_model
from kernelbot.protocol import (
    CompileReport,
    EventKind,
    HarnessKind,
    JobSpec,
    Lang,
    ProgressEvent,
    Vendor,
    Verdict,
)

_MENTIONS = ("cpp_extension", "load_inline")
_TOOLS = ("torch", "triton", "ninja")
Emit = Callable[[ProgressEvent], None]


def builds_ahead(job: JobSpec) -> bool:
    """Whether a file of the job's mentions what compiles while it is imported. A mention that means
    nothing costs an import beside the GPU; without one nothing is lost but time on it."""
    if job.device.vendor is Vendor.CPU or job.problem.lang is not Lang.PY:
        return False
    if job.problem.harness is HarnessKind.SCRIPT or job.problem.multi_gpu:
        return False
    texts = [author.source.text for author in authors_of(job)]
    return any(name in text for text in texts for name in _MENTIONS)


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
        return session.builds()
    except AuthorFailure:  # where it counts, it is told
        return b""
    finally:
        session.abort()


def _key(job: JobSpec, author: Author) -> str:
    """Of everything that a build depends on, as far as it can be named: another interpreter or
    torch in the same place is another version."""
    files = {file.name: file.text for file in shared_files(job.problem)}
    ingredients = [
        author.source.text,
        job.problem.submission_name,
        files,
        job.device.arch,
        sys.version,
        [_version(tool) for tool in _TOOLS],
        cpu_model(),
    ]
    return "own-" + hashlib.sha256(json.dumps(ingredients, sort_keys=True).encode()).hexdigest()


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""
