"""Progress events in words: a line each for a log, or the current activity."""

from kernelbot.domain.states import RunState
from kernelbot.protocol import EventKind, ProgressEvent
from kernelbot.render.units import seconds_text
from kernelbot.render.verdicts import TITLES

STATES: dict[RunState, str] = {
    RunState.QUEUED: "waiting in the queue",
    RunState.DISPATCHED: "handed to a device",
    RunState.RUNNING: "running",
    RunState.FINISHED: "finished",
    RunState.LOST: "lost on our side",
    RunState.CANCELLED: "cancelled",
}


def progress_line(event: ProgressEvent) -> str | None:
    """A log's line about an event; None for events that the report covers."""
    match event.kind:
        case EventKind.COMPILED:
            return _compiled(event)
        case EventKind.PHASE_STARTED:
            return f"{event.phase}{_count(event)} ..." if event.phase else None
        case EventKind.PHASE_FINISHED:
            return _phase_finished(event)
        case _:
            return None


class Activity:
    """Follows one run's events, and says after each what is being done."""

    def __init__(self) -> None:
        self._done = 0

    def after(self, event: ProgressEvent) -> str | None:
        """What is being done after this event; None: no change."""
        match event.kind:
            case EventKind.PHASE_STARTED:
                self._done = 0
                return f"{event.phase}{_count(event)}"
            case EventKind.CASE:
                self._done += 1
                return f"{event.phase}: {_of(self._done, event)} tested"
            case EventKind.WORKLOAD:
                self._done += 1
                more = event.total is not None and self._done < event.total
                return f"{event.phase}: {_of(self._done, event)} timed" + (
                    ", sampling the next" if more else ""
                )
            case _:
                return progress_line(event)


def _of(done: int, event: ProgressEvent) -> str:
    return f"{done} of {event.total}" if event.total else str(done)


def _count(event: ProgressEvent) -> str:
    return f" ({event.total})" if event.total else ""


def _compiled(event: ProgressEvent) -> str:
    took = f" in {seconds_text(event.duration_s)}" if event.duration_s is not None else ""
    return f"compiled{took}"


def _phase_finished(event: ProgressEvent) -> str:
    verdict = TITLES[event.verdict] if event.verdict else "done"
    took = f" in {seconds_text(event.duration_s)}" if event.duration_s is not None else ""
    return f"{event.phase}: {verdict}{took}"
