"""One source, judged by the warm judge of `kernelbot run`."""

import contextlib
import logging

from kernelbot.catalog.problem import LoadedProblem
from kernelbot.library.baselines import BaselineLost, baseline_of, baseline_source
from kernelbot.library.reports import Report
from kernelbot.library.sources import Problem, Problems, Source, expect_timed, mode_of, source_file
from kernelbot.protocol import Mode, ProgressEvent, SandboxMode, SourceFile
from kernelbot.server.judge_once import no_result
from kernelbot.server.local_judge import LocalJudge
from kernelbot.server.run import expect_timeable

log = logging.getLogger(__name__)


def judge(
    problem: Problem,
    source: Source,
    *,
    mode: Mode | str = Mode.TEST,
    device: str | None = None,
    baseline: bool = False,
) -> Report:
    """Judge a source as `kernelbot run` does, and wait. `device` None: the first that is
    configured. `baseline`: time the problem's reference as well, right after.

    Raises `InvalidProblem`, `InvalidSubmission` or `UserError` before anything runs. An exception
    meanwhile, such as KeyboardInterrupt, stops the job before it goes on.
    """
    wanted = mode_of(mode)
    if baseline:
        expect_timed(wanted)
    loaded = Problems().load(problem)
    if baseline:
        baseline_source(loaded)  # without one it raises before anything runs
    submission = source_file(source, loaded.definition.spec)
    with contextlib.closing(
        LocalJudge(log.info, sandbox=SandboxMode.REQUIRED, cold=False)
    ) as local:
        return _judged(local, loaded, submission, wanted, device, baseline=baseline)


def _judged(
    local: LocalJudge,
    loaded: LoadedProblem,
    submission: SourceFile,
    mode: Mode,
    device: str | None,
    *,
    baseline: bool,
) -> Report:
    settings, spec = local.settings(), loaded.definition.spec
    job = settings.job(spec, submission, mode, settings.device(device))
    expect_timeable(job)
    report = Report(local.judge(job, _ignore), len(spec.tests))
    if not (baseline and report.accepted):
        return report
    name, reference = baseline_source(loaded)
    timed = settings.job(spec, reference, mode, job.device)
    try:
        found = baseline_of(name, timed, local.judge(timed, _ignore))
    except BaselineLost as error:
        return Report(no_result(job, str(error)), len(spec.tests))
    return Report(report.result, report.tests_total, found)


def _ignore(_event: ProgressEvent) -> None:
    return
