"""What a result must satisfy to be one of its job: the one rule for whatever a node sends.

A node is somebody else's machine. What it says of a kernel can't be known to be true, but it can be
held to the job: its phases, cases and workloads are those of the job, its verdict is that of its
phases, and its samples fit into the time that the attempt took. All figures are then computed from
the samples, here, so that none of them is the node's word.
"""

import base64
import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

from kernelbot.protocol.enums import Fault, Mode, Phase, Verdict
from kernelbot.protocol.job import JobSpec
from kernelbot.protocol.phases import TIMED, cases_of, phases_of
from kernelbot.protocol.result import Artifact, PhaseResult, Product, RunResult
from kernelbot.protocol.result_size import (
    MAX_FILE_BYTES,
    MAX_FILES_BYTES,
    MAX_PRODUCT_BYTES,
    MAX_REPORT_BYTES,
    REPORT,
)
from kernelbot.protocol.scoring import score, scoring_workloads
from kernelbot.protocol.workload_rules import Disagrees, Workloads

T = TypeVar("T")
MAX_TEXT = 64 << 10
"""Characters of any text but what was printed: four times what the harness keeps of one."""
MAX_ITEMS = 1000
"""Most entries of a list of notes and the like."""
_OF_COMPILERS = frozenset(
    (Verdict.ACCEPTED, Verdict.COMPILE_ERROR, Verdict.TIME_LIMIT, Verdict.INTERNAL_ERROR)
)
"""The verdicts of a build step."""
_PRINTED = frozenset(("stdout", "stderr", "output", "content_base64"))
"""These are bounded by the size of the whole result."""


def held_to(job: JobSpec, result: RunResult, within_s: float) -> RunResult:
    """The result with all figures computed from its samples, and its texts cut to what is kept of
    them. `within_s`: how long the attempt took at most, by the platform's own clock.

    Raises `Disagrees` if it isn't a result of this job, or contradicts itself: that is never its
    author's fault. A result with `attempt_lost` is none, and must not come here.
    """
    _check_identity(job, result)
    _check_verdict(job, result)
    _check_files(job, result.artifacts)
    workloads = Workloads(job, within_s)
    phases = tuple(_held_phase(job, workloads, phase) for phase in result.phases)
    result = replace(result, phases=phases)
    accepted = result.verdict is Verdict.ACCEPTED
    if (result.duel is not None) != (accepted and job.opponent is not None):
        raise Disagrees("only a duel that was fought shows a ratio")
    if result.duel is not None:
        result = replace(result, duel=workloads.duel(result.duel))
    if result.opponent_failed and (accepted or job.opponent is None):
        raise Disagrees("it says that an opponent failed, and there is none that did")
    return _shortened(_scored(job, result))


def _check_identity(job: JobSpec, result: RunResult) -> None:
    if result.job_id != job.job_id:
        raise Disagrees(f"it is the result of another job, {result.job_id[:80]!r}")
    of_job = {
        "problem": (result.problem, job.problem.name),
        "mode": (result.mode, job.mode),
        "harness": (result.harness, job.problem.harness),
    }
    for name, (given, wanted) in of_job.items():
        if given != wanted:
            raise Disagrees(f"its {name} is {given[:80]!r} instead of {wanted!r}")
    spent = (result.duration_s, *result.timings.values())
    if min(spent) < 0:
        raise Disagrees("a duration is negative")


def _check_verdict(job: JobSpec, result: RunResult) -> None:
    """Phases in their order, each begun only after the one before was accepted; the verdict is
    that of the last."""
    expected = _expected_phases(job)
    given = tuple((phase.phase, phase.of_opponent) for phase in result.phases)
    if given != expected[: len(given)]:
        raise Disagrees(f"its phases aren't those of mode {job.mode}, in their order")
    verdicts = [phase.verdict for phase in result.phases]
    if any(verdict is not Verdict.ACCEPTED for verdict in verdicts[:-1]):
        raise Disagrees("a phase follows one that was refused")
    complete = len(given) == len(expected)
    last = verdicts[-1] if verdicts else Verdict.ACCEPTED
    if result.product is not None:
        _check_product(job, result, result.product)
    if result.verdict not in _verdicts(job, last, begun=bool(verdicts), complete=complete):
        raise Disagrees(f"its verdict {result.verdict} isn't that of its phases")
    _check_failure(result)


def _expected_phases(job: JobSpec) -> tuple[tuple[Phase, bool], ...]:
    """Each with whether it is the opponent's alone: in a duel each of both is tested."""
    expected: list[tuple[Phase, bool]] = []
    for phase in phases_of(job):
        expected.append((phase, False))
        if job.opponent is not None and phase not in TIMED:
            expected.append((phase, True))
    return tuple(expected)


def _verdicts(job: JobSpec, last: Verdict, *, begun: bool, complete: bool) -> frozenset[Verdict]:
    """The verdicts that a run may have by its phases. Judging itself may fail at any time; a build
    that fails belongs to no phase."""
    if last is not Verdict.ACCEPTED:
        return frozenset((last, Verdict.INTERNAL_ERROR))
    if job.build_only and job.problem.lang.is_compiled:
        return _OF_COMPILERS
    if complete:
        return frozenset((Verdict.ACCEPTED, Verdict.INTERNAL_ERROR))
    if not begun and job.problem.lang.is_compiled:
        return frozenset(Verdict) - {Verdict.ACCEPTED}
    return frozenset((Verdict.INTERNAL_ERROR,))


def _check_failure(result: RunResult) -> None:
    failure = result.failure
    if (failure is None) != (result.verdict is Verdict.ACCEPTED):
        raise Disagrees("it has a failure exactly if it isn't accepted")
    ours = result.verdict is Verdict.INTERNAL_ERROR
    if failure is not None and failure.fault is not (Fault.PLATFORM if ours else Fault.AUTHOR):
        raise Disagrees(f"{result.verdict} is not the {failure.fault}'s fault")


def _check_product(job: JobSpec, result: RunResult, product: Product) -> None:
    """Only a build step that was accepted leaves one, within bounds, and with its own hash."""
    leaves_one = job.build_only and not job.report_only
    if not leaves_one or result.verdict is not Verdict.ACCEPTED:
        raise Disagrees("only a build step that was accepted leaves what it has built")
    try:
        content = base64.b64decode(product.content_base64, validate=True)
    except ValueError:
        raise Disagrees("what it has built isn't base64") from None
    if not 0 < len(content) <= MAX_PRODUCT_BYTES:
        raise Disagrees("what it has built is larger than what may be carried, or empty")
    if hashlib.sha256(content).hexdigest() != product.sha256:
        raise Disagrees("what it has built has another hash than it says")


def _check_files(job: JobSpec, artifacts: Sequence[Artifact]) -> None:
    """Only profilers leave files, within bounds; each has a name of its own."""
    if artifacts and job.mode is not Mode.PROFILE:
        raise Disagrees(f"mode {job.mode} leaves no files")
    if len({artifact.name for artifact in artifacts}) != len(artifacts):
        raise Disagrees("two of its files have the same name")
    together = 0
    for artifact in artifacts:
        try:
            size = len(base64.b64decode(artifact.content_base64, validate=True))
        except ValueError:
            raise Disagrees("a file of it isn't base64") from None
        most = MAX_REPORT_BYTES if artifact.media_type == REPORT else MAX_FILE_BYTES
        together += 0 if artifact.media_type == REPORT else size
        if size > most or together > MAX_FILES_BYTES:
            raise Disagrees("its files are larger than a run may leave")


def _held_phase(job: JobSpec, workloads: Workloads, phase: PhaseResult) -> PhaseResult:
    accepted = phase.verdict is Verdict.ACCEPTED
    if phase.duration_s < 0:
        raise Disagrees("a duration is negative")
    if accepted and phase.failure is not None:
        raise Disagrees(f"its {phase.phase} phase was accepted, and has a failure")
    if accepted and any(case.verdict is not Verdict.ACCEPTED for case in phase.cases):
        raise Disagrees(f"its {phase.phase} phase was accepted, and a case of it wasn't")
    specs = [case.spec for _, case in cases_of(job.problem, phase.phase)]
    timed = phase.phase in TIMED
    if (timed and phase.cases) or (phase.phase is Phase.TEST and phase.workloads):
        raise Disagrees(f"its {phase.phase} phase holds what that phase hasn't")
    measures = timed and job.opponent is None  # a duel's measurements have a form of their own
    if not measures and timed and phase.workloads:
        raise Disagrees("a duel has measurements of one kernel")
    _check_specs(phase, [case.spec for case in phase.cases], specs, all_of=accepted and not timed)
    _check_specs(
        phase, [load.spec for load in phase.workloads], specs, all_of=accepted and measures
    )
    return replace(phase, workloads=workloads.held(phase))


def _check_specs(
    phase: PhaseResult, given: Sequence[str], specs: Sequence[str], *, all_of: bool
) -> None:
    """Check that the specs are the job's, in its order; `all_of`: none is left out, except that a
    script names what it profiled in its own way."""
    needs_all = all_of and phase.phase is not Phase.PROFILE
    if not _is_part(given, specs) or (needs_all and len(given) != len(specs)):
        raise Disagrees(
            f"its {phase.phase} phase has {len(given)} cases or workloads that aren't the "
            f"{len(specs)} of the job"
        )


def _is_part(given: Iterable[str], whole: Iterable[str]) -> bool:
    """Whether the first is the second with some left out, in the same order."""
    rest = iter(whole)
    return all(any(one == other for other in rest) for one in given)


def _scored(job: JobSpec, result: RunResult) -> RunResult:
    """The score is computed here, whatever the node says; one that says otherwise isn't believed in
    anything."""
    by_phase = {phase.phase: phase.workloads for phase in result.phases}
    loads = scoring_workloads(by_phase) if result.verdict is Verdict.ACCEPTED else ()
    score_s: float | None = None
    interval_s: tuple[float, float] | None = None
    if loads:
        try:
            score_s, interval_s = score(job.problem.ranking_by, loads)
        except (ValueError, OverflowError):
            raise Disagrees("its samples allow no score") from None
    Workloads.compare(
        "score", (result.score_s, *(result.score_ci95_s or ())), (score_s, *(interval_s or ()))
    )
    return replace(result, score_s=score_s, score_ci95_s=interval_s)


def _shortened(value: T, name: str = "") -> T:
    """The same with texts and lists of texts cut to what is kept. What the author printed may be as
    long as the harness lets it; the rest is the harness's own, and short."""
    cut: Any = value
    if isinstance(value, str):
        cut = value if name in _PRINTED else value[:MAX_TEXT]
    elif is_dataclass(value) and not isinstance(value, type):
        changed = {
            field.name: new
            for field in fields(value)
            if (new := _shortened(old := getattr(value, field.name), field.name)) != old
        }
        cut = replace(value, **changed) if changed else value
    elif isinstance(value, tuple) and value and not isinstance(value[0], float):
        # Cases and workloads are as many as the job has; of all else there are few.
        few = isinstance(value[0], str | dict)
        cut = tuple(_shortened(item) for item in (value[:MAX_ITEMS] if few else value))
    elif isinstance(value, dict):
        items = list(value.items())[:MAX_ITEMS]
        cut = {_shortened(key): _shortened(item) for key, item in items}
    return cut  # type: ignore[no-any-return]  # each branch gives what it was given
