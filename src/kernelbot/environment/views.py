"""What of a task and of a report an observation shows."""

from kernelbot.domain.values import from_fields
from kernelbot.environment.messages import ReportData, TaskSummary, TaskView
from kernelbot.environment.settings import EpisodeRules, HeldOut
from kernelbot.environment.steps import EpisodeProgress, JudgedAttempt
from kernelbot.environment.tasks import Task
from kernelbot.library.reports import Report
from kernelbot.render.text import counted, shorten
from kernelbot.runs.report import CaseReport, WorkloadReport

_TEXT = 16_000
"""Characters of a report's text: a model reads every one of them."""
_OUTPUT = 4_000
_MESSAGE = 1_000


def task_summary(task: Task) -> TaskSummary:
    return TaskSummary(
        id=task.id,
        split=task.split,
        index=task.index,
        problem=task.spec.name,
        language=task.spec.lang,
        file_name=task.spec.submission_name,
    )


def task_view(task: Task) -> TaskView:
    definition = task.whole.definition
    return TaskView(
        **task_summary(task).model_dump(),
        statement=definition.description,
        starters=definition.templates,
    )


def task_text(task: Task, rules: EpisodeRules) -> str:
    """The task for a model: statement, how attempts go, what to begin with."""
    view = task_view(task)
    attempts = counted(rules.attempts, "attempt")
    parts = [
        view.statement.strip(),
        f"Write {view.file_name} ({task.spec.lang.label}). You have {attempts}: each has a report.",
    ]
    if rules.held_out is not HeldOut.NOTHING:
        parts.append("At the end the best one is judged again, on other data.")
    parts += [f"To begin with ({word}):\n\n{text}" for word, text in view.starters.items()]
    return "\n\n".join(parts)


def report_text(report: Report) -> str:
    """What a terminal shows, shortened, with what a time is compared with."""
    text = shorten(str(report), _TEXT)
    if report.speed_ci95 is None:
        return text
    low, high = report.speed_ci95
    return f"{text}\n\nAs fast as the reference, times: {low:.3g} to {high:.3g} (95 % interval)."


def judged_text(judged: JudgedAttempt, progress: EpisodeProgress, rules: EpisodeRules) -> str:
    if judged.report is None:
        text = f"This attempt wasn't judged: {judged.refusal}"
    elif judged.is_lost:
        why = judged.report.message or judged.report.recurring_data
        text = f"This attempt couldn't be judged, and isn't counted: {why}"
    else:
        text = report_text(judged.report)
    return f"{text}\n\n{_attempts_text(progress, rules)}"


def _attempts_text(progress: EpisodeProgress, rules: EpisodeRules) -> str:
    used = f"{counted(progress.used, 'attempt')} of {rules.attempts} used"
    best = progress.best
    if best is None:
        return f"{used}."
    return f"{used}; the best is attempt {best.attempt}, with reward {best.reward:.4g}."


def report_data(report: Report) -> ReportData:
    return from_fields(
        ReportData,
        report.result,
        report,
        fault=report.fault,
        message=shorten(report.message, _MESSAGE),
        evidence=shorten(report.evidence, _OUTPUT),
        tests=[
            CaseReport(case.spec, case.verdict, shorten(case.message, _MESSAGE))
            for case in report.tests
        ],
        workloads=list(map(WorkloadReport.from_result, report.workloads)),
        baseline_s=report.baseline.score_s if report.baseline else None,
        speed_ci95=report.speed_ci95,
        suspicions=list(report.suspicions),
        compiler=shorten(report.compile.output if report.compile else "", _OUTPUT),
        stdout=shorten(report.stdout, _OUTPUT),
        stderr=shorten(report.stderr, _OUTPUT),
    )
