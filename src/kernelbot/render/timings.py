"""Where the seconds between sending a file and its verdict went."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from kernelbot.protocol import Phase
from kernelbot.render.table import table
from kernelbot.render.units import seconds_text

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
_RIGHT = ("time", "from the start")


@dataclass(frozen=True)
class RunTimes:
    """What is known of one run's time; None: not yet, or not for whoever asks."""

    name: str
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    phases_s: Mapping[Phase, float] = field(default_factory=dict)
    timings_s: Mapping[str, float] = field(default_factory=dict)
    judged_s: float | None = None
    """The judge's own time, from its order to its result."""


def timings_text(sent_at: datetime, runs: list[RunTimes]) -> str:
    """A table for each run. Phases are within the judge's own time, and so are steps that are
    indented."""
    return "\n\n".join(_of_run(sent_at, run) for run in runs)


def _of_run(sent_at: datetime, run: RunTimes) -> str:
    if run.started_at is None:
        return f"{run.name}: it hasn't begun."
    rows = [("waited in the queue", run.started_at - run.created_at)]
    timed = [(name, seconds_text(took.total_seconds())) for name, took in rows]
    if run.finished_at is not None:
        timed += _judging(run, (run.finished_at - run.started_at).total_seconds())
        all_s = (run.finished_at - sent_at).total_seconds()
        timed.append(("from sending to this verdict", seconds_text(all_s)))
    return f"{run.name}\n{table(('step', 'time'), timed, right=_RIGHT)}"


def _judging(run: RunTimes, took_s: float) -> list[tuple[str, str]]:
    """The steps between a run's start and its end, `took_s` later."""
    steps = [(name, run.timings_s[name]) for name in _STEPS if run.timings_s.get(name)]
    outside = [(_STEPS[name], seconds) for name, seconds in steps if name in _OUTSIDE]
    rows = [(name, seconds_text(seconds)) for name, seconds in outside]
    if run.judged_s is None:
        return [*rows, ("from there to the verdict", seconds_text(took_s))]
    rows.append(("judged", seconds_text(run.judged_s)))
    rows += [(f"  phase {phase}", seconds_text(spent)) for phase, spent in run.phases_s.items()]
    rows += [
        (f"  {_STEPS[name]}", seconds_text(spent)) for name, spent in steps if name not in _OUTSIDE
    ]
    rest_s = took_s - run.judged_s - sum(seconds for _, seconds in outside)
    return [*rows, ("brought there and back, written down", seconds_text(max(rest_s, 0.0)))]
