"""Progress events in one line each."""

from kernelbot.domain.states import RunState
from kernelbot.protocol import EventKind, ProgressEvent
from kernelbot.render.text import indent, one_line, printable
from kernelbot.render.units import seconds_text, time_text
from kernelbot.render.verdicts import TITLES, mark

STATES: dict[RunState, str] = {
    RunState.QUEUED: "waiting in the queue",
    RunState.DISPATCHED: "handed to a device",
    RunState.RUNNING: "running",
    RunState.FINISHED: "finished",
    RunState.LOST: "lost on our side",
    RunState.CANCELLED: "cancelled",
}


def progress_line(event: ProgressEvent) -> str | None:
    """What to show of an event; None for those that tell a person nothing new."""
    match event.kind:
        case EventKind.COMPILED:
            return _compiled(event)
        case EventKind.PHASE_STARTED:
            return f"{event.phase}{_count(event)} ..." if event.phase else None
        case EventKind.CASE:
            return _case(event)
        case EventKind.WORKLOAD:
            return _workload(event)
        case EventKind.PHASE_FINISHED:
            return _phase_finished(event)
        case _:
            return None


def _count(event: ProgressEvent) -> str:
    return f" ({event.total})" if event.total else ""


def _compiled(event: ProgressEvent) -> str:
    took = f" in {seconds_text(event.duration_s)}" if event.duration_s is not None else ""
    return f"compiled{took}"


def _position(event: ProgressEvent) -> str:
    if event.index is None:
        return ""
    return f"{event.index + 1}/{event.total} " if event.total else f"{event.index + 1} "


def _case(event: ProgressEvent) -> str:
    sign = mark(event.verdict) if event.verdict else "·"
    line = f"  {sign} {_position(event)}{one_line(event.spec or '')}".rstrip()
    return f"{line}\n{indent(printable(event.message), '      ')}" if event.message else line


def _workload(event: ProgressEvent) -> str:
    median = f"  {time_text(event.median_ns)}" if event.median_ns is not None else ""
    return f"  {_position(event)}{one_line(event.spec or '')}{median}".rstrip()


def _phase_finished(event: ProgressEvent) -> str:
    verdict = TITLES[event.verdict] if event.verdict else "done"
    took = f" in {seconds_text(event.duration_s)}" if event.duration_s is not None else ""
    return f"{event.phase}: {verdict}{took}"
