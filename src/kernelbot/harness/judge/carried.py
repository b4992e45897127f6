"""Builds that travel: the step that only builds, and the run that gets what was built.

What can't be used here is built here, as if it hadn't come: that is never the author's fault.
"""

from collections.abc import Callable
from dataclasses import replace

from kernelbot.harness.judge.authors import Contestant, authors_of
from kernelbot.harness.judge.build.cache import BuildCache, CachedBuild
from kernelbot.harness.judge.build.figures import Described, described_in
from kernelbot.harness.judge.build.place import build_environment, why_unfit
from kernelbot.harness.judge.build.product import BadProduct, pack_product, unpack_product
from kernelbot.harness.judge.building_ahead import build_file
from kernelbot.harness.judge.collected import Collected
from kernelbot.harness.judge.compiling import compile_all
from kernelbot.harness.sandbox import RunnerClient
from kernelbot.protocol import CompileReport, JobSpec, Lang, Product, ProgressEvent, SandboxMode
from kernelbot.protocol.result_size import MAX_TEXT

Emit = Callable[[ProgressEvent], None]
TOO_LARGE = "What was built is larger than what can be carried to a run: each run builds it again."


def only_build(
    job: JobSpec, client: RunnerClient, emit: Emit, cache: BuildCache | None
) -> Collected:
    """A build step's job, without any data. Raises `SandboxUnavailable`."""
    collected = Collected()
    (author,) = authors_of(job)
    if job.problem.lang is Lang.PY:
        build = build_file(job, author, client, emit, cache)
        content = build.binary
        carried = None  # a run of it says for itself what fails
        collected.compile = _with_figures(job, build, client)
    elif compile_all(job, (author,), client, emit, cache, collected):
        content = author.binary or b""
        carried = collected.compile
    else:
        return collected
    if job.report_only:
        return collected
    collected.product = pack_product(content, build_environment(job), carried)
    if content and collected.product is None:
        collected.notes.append(TOO_LARGE)
    return collected


def _with_figures(job: JobSpec, build: CachedBuild, client: RunnerClient) -> CompileReport | None:
    """What the author is shown of it; None: there is nothing."""
    sandboxed = job.sandbox is SandboxMode.REQUIRED
    told = described_in(build.binary, client, sandboxed) if build.binary else Described()
    output = with_said(told.said, build.report.output)
    return (
        replace(build.report, kernels=told.kernels, output=output)
        if told.kernels or output
        else None
    )


def with_said(said: str, output: str) -> str:
    """A report's output behind what nvcc said, of which only the end is left out: however much it
    warns of, the report says what failed."""
    room = MAX_TEXT - len(output) - 1
    return "\n".join(filter(None, (said[: max(room, 0)], output)))


def comes_built(job: JobSpec) -> bool:
    """Whether all that a job's files build has come along, and fits."""
    return all(
        product is not None and not why_unfit(product.place, build_environment(author.job(job)))
        for author, product in _products(job)
    )


def give_products(job: JobSpec, authors: tuple[Contestant, ...], collected: Collected) -> None:
    """Give each author what a build step has made of their file, as far as it can be used."""
    for author, (_, product) in zip(authors, _products(job), strict=True):
        if product is None:
            continue
        why = _given(job, author, product, collected)
        if why:
            collected.notes.append(f"What was built in advance can't be used here: {why}.")


def _given(job: JobSpec, author: Contestant, product: Product, collected: Collected) -> str:
    """Why it wasn't; empty: it was."""
    if why := why_unfit(product.place, build_environment(author.job(job))):
        return why
    try:
        content = unpack_product(product)
    except BadProduct as error:
        return str(error)
    if job.problem.lang is Lang.PY:
        author.builds = content
        return ""
    author.binary = content
    if product.report is not None and not author.is_opponent:
        collected.compile = replace(product.report, cached=True)
    return ""


def _products(job: JobSpec) -> tuple[tuple[Contestant, Product | None], ...]:
    products = (job.product, job.opponent_product)
    return tuple(zip(authors_of(job), products, strict=False))
