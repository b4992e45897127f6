"""Progress events in words: a line each for a log, or the current activity."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from kernelbot.domain.states import RunState
from kernelbot.protocol import EventKind, ProgressEvent, Verdict
from kernelbot.render.text import one_line, printable, shorten
from kernelbot.render.units import seconds_text
from kernelbot.runs.repeats import REPEATED

if TYPE_CHECKING:  # `kernelbot run` needs nothing else of it
    from kernelbot.submissions.model import SubmissionEvent

STATES: dict[RunState, str] = {
    RunState.QUEUED: "waiting in the queue",
    RunState.DISPATCHED: "handed to a device",
    RunState.RUNNING: "running",
    RunState.FINISHED: "finished",
    RunState.CANCELLED: "cancelled",
}

COMPILING = "compiling"
WAITING = "waiting for another measurement on this machine"
_LONGEST_MESSAGE = 2000
_LONGEST_REASON = 300
_OPEN = (RunState.QUEUED, RunState.DISPATCHED, RunState.RUNNING)


def state_text(state: RunState, repeats: object = None, reason: object = None) -> str:
    """A run's state. As the run or an event says, `repeats`: how often it was measured again, and
    `reason`: why its scheduler hasn't begun it."""
    return STATES[state] + _why_again(state, repeats) + _why_it_waits(state, reason)


def _why_it_waits(state: RunState, reason: object) -> str:
    if state is not RunState.DISPATCHED or not isinstance(reason, str) or not reason:
        return ""
    return f", where it waits: {shorten(one_line(reason), _LONGEST_REASON)}"


def _why_again(state: RunState, repeats: object) -> str:
    return f"; {REPEATED}" if _known_count(repeats) and state in _OPEN else ""


def progress_line(event: ProgressEvent) -> str | None:
    """A log's line about an event; None for events that the report covers."""
    match event.kind:
        case EventKind.COMPILING:
            return f"{COMPILING} ..."
        case EventKind.COMPILED:
            return _compiled(event)
        case EventKind.PHASE_STARTED:
            return f"{event.phase}{_count(event)} ..." if event.phase else None
        case EventKind.PHASE_FINISHED:
            return _phase_finished(event)
        case _:
            return None


class RunActivity:
    """Follows one run's events, and says after each what is being done."""

    def __init__(self) -> None:
        self._done = 0
        self._total: int | None = None

    def after(self, event: ProgressEvent) -> str | None:
        """What is being done after this event; None: no change."""
        match event.kind:
            case EventKind.COMPILING:
                return COMPILING
            case EventKind.COMPILED if event.message:
                return None  # a table: whoever shows one line has no room for it
            case EventKind.PHASE_STARTED:
                self._done, self._total = 0, event.total
                return f"{event.phase}{_count(event)}"
            case EventKind.CASE:
                self._done += 1
                return f"{event.phase}: {self._counted(event)} tested"
            case EventKind.WORKLOAD:
                self._done += 1
                total = event.total or self._total
                more = total is not None and self._done < total
                return f"{event.phase}: {self._counted(event)} timed" + (
                    ", sampling the next" if more else ""
                )
            case EventKind.WAITING:
                return f"{event.phase}: {WAITING}"
            case EventKind.WAITED:
                return f"{event.phase}: sampling"
            case _:
                return progress_line(event)

    def _counted(self, event: ProgressEvent) -> str:
        """How many there were, of how many if the event says so or the phase's beginning did."""
        total = event.total or self._total
        return f"{self._done} of {total}" if total else str(self._done)


class RunProgress:
    """What is known of one run by its events: `done` of `total` cases or workloads of a phase."""

    def __init__(
        self, state: RunState = RunState.QUEUED, verdict: Verdict | None = None, *, repeats: int = 0
    ) -> None:
        self.state = state
        self.verdict = verdict
        self.repeats = repeats
        self.phase = ""
        self.done = 0
        self.total = 0
        self.waits = False
        """For another measurement on its machine."""
        self.reason = ""
        """Why its scheduler hasn't begun it."""

    def add(self, event: "SubmissionEvent") -> None:
        if isinstance(event.kind, RunState):
            self._change(event.kind, event.data)
        elif event.kind is EventKind.COMPILED and event.data.get("message"):
            return  # a report, which may come at any time
        elif self.state is RunState.DISPATCHED:
            self._change(RunState.RUNNING, {})
        if event.kind in (EventKind.COMPILING, EventKind.COMPILED):
            self.phase = COMPILING if event.kind is EventKind.COMPILING else ""
            self.done = self.total = 0
        elif event.kind is EventKind.PHASE_STARTED:
            self.phase, self.done = str(event.data.get("phase", "")), 0
            self.total = _known_count(event.data.get("total"))
        elif event.kind in (EventKind.CASE, EventKind.WORKLOAD):
            self.done += 1
        if not isinstance(event.kind, RunState):
            self.waits = event.kind is EventKind.WAITING

    def _change(self, state: RunState, data: Mapping[str, object]) -> None:
        self.state = state
        self.reason = str(data.get("reason", "")) if state is RunState.DISPATCHED else ""
        if state is RunState.QUEUED:  # another attempt
            self.phase, self.done, self.total, self.waits = "", 0, 0, False
            self.repeats = _known_count(data.get("repeats")) or self.repeats
        if state is RunState.FINISHED and "verdict" in data:
            self.verdict = Verdict(str(data["verdict"]))

    @property
    def text(self) -> str:
        if self.verdict is not None:
            return self.verdict.words
        if self.state is not RunState.RUNNING or not self.phase:
            return state_text(self.state, self.repeats, self.reason)
        done = f"{self.phase}: {self.done} of {self.total}" if self.total else self.phase
        return f"{done}, {WAITING}" if self.waits else done


def _known_count(value: object) -> int:
    return value if isinstance(value, int) and 0 < value < 10**6 else 0


def _count(event: ProgressEvent) -> str:
    return f" ({event.total})" if event.total else ""


def is_report(event: ProgressEvent) -> bool:
    """Whether its line is a report on what was compiled, of several lines."""
    return event.kind is EventKind.COMPILED and bool(event.message)


def _compiled(event: ProgressEvent) -> str:
    if event.message:
        return printable(shorten(event.message, _LONGEST_MESSAGE))
    took = f" in {seconds_text(event.duration_s)}" if event.duration_s is not None else ""
    return f"compiled{took}"


def _phase_finished(event: ProgressEvent) -> str:
    verdict = event.verdict.words if event.verdict else "done"
    took = f" in {seconds_text(event.duration_s)}" if event.duration_s is not None else ""
    return f"{event.phase}: {verdict}{took}"
