"""Where the seconds between sending a file and its verdict went."""

from datetime import datetime
from typing import TYPE_CHECKING

from kernelbot.render.table import table
from kernelbot.render.units import seconds_text

if TYPE_CHECKING:  # what a command has no use for isn't loaded for it
    from kernelbot.runs.model import RunView
    from kernelbot.submissions.model import SubmissionView

_STEPS = {
    "build": "built on another machine",
    "startup": "a judge made ready",
    "gpu_wait": "waited for the GPU",
    "gpu_ready": "the GPU made ready",
    "spawn": "processes started",
    "compile": "compiled, loaded",
    "generate": "inputs made",
    "kernel": "in the kernel",
    "check": "outputs compared",
    "turn_wait": "waited for others' measuring",
    "script": "the problem's own script",
}
"""What the steps of a result's timings are called, in this order. Those that only contain others
are left out."""
_OUTSIDE = ("build", "startup", "gpu_wait", "turn_wait")
"""Those that are no part of the judge's own time."""
_BETWEEN = "brought there and back, written down"
_EARLIER = "earlier attempts, brought there and back"
_RIGHT = ("time", "from the start")


def timings_text(submission: "SubmissionView") -> str:
    """A table for each of its runs, in the order in which they were judged. Phases are within the
    judge's own time, and so are steps that are indented."""
    runs = sorted(submission.runs, key=lambda run: (run.secret, run.id))
    return "\n\n".join(_of_run(submission.created_at, run) for run in runs)


def _of_run(sent_at: datetime, run: "RunView") -> str:
    name = f"{run.device}, secret data" if run.secret else run.device
    if run.started_at is None:
        return f"{name}: it hasn't begun."
    waited_s = (run.started_at - run.created_at).total_seconds()
    timed = [("waited in the queue", seconds_text(waited_s))]
    if run.finished_at is not None:
        timed += _judging(run, (run.finished_at - run.started_at).total_seconds())
        all_s = (run.finished_at - sent_at).total_seconds()
        timed.append(("from sending to this verdict", seconds_text(all_s)))
    return f"{name}\n{table(('step', 'time'), timed, right=_RIGHT)}"


def _judging(run: "RunView", took_s: float) -> list[tuple[str, str]]:
    """The steps between a run's start and its end, `took_s` later. The timings of a result are of
    the last attempt alone; without a result, which isn't for whoever asks, there are none."""
    result = run.result
    if result is None:
        return [("from there to the verdict", seconds_text(took_s))]
    steps = [(name, result.timings[name]) for name in _STEPS if result.timings.get(name)]
    outside = [(_STEPS[name], seconds) for name, seconds in steps if name in _OUTSIDE]
    judged_s = result.timings.get("total", result.duration_s)
    rows = [(name, seconds_text(seconds)) for name, seconds in outside]
    rows.append(("judged", seconds_text(judged_s)))
    rows += [(f"  phase {one.phase}", seconds_text(one.duration_s)) for one in result.phases]
    rows += [
        (f"  {_STEPS[name]}", seconds_text(spent)) for name, spent in steps if name not in _OUTSIDE
    ]
    rest_s = took_s - judged_s - sum(seconds for _, seconds in outside)
    return [*rows, (_BETWEEN if run.attempts < 2 else _EARLIER, seconds_text(max(rest_s, 0.0)))]
