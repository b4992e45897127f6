"""Progress of a run, as those who follow its submission see it."""

from collections.abc import Iterable, Sequence

from kernelbot.protocol import EventKind, ProgressEvent
from kernelbot.runs.store import EventData, Step
from kernelbot.store.database import WriteSession
from kernelbot.submissions import store as submissions

_SAID_BY_STATES = (EventKind.STARTED, EventKind.FINISHED)


def steps(events: Iterable[ProgressEvent]) -> list[Step]:
    """What is stored of what a judge has told: all but what the run's state says."""
    return [
        (event.kind, _event_data(event)) for event in events if event.kind not in _SAID_BY_STATES
    ]


def last_steps(events: Sequence[ProgressEvent]) -> list[Step] | None:
    """The same of what is left when an attempt ends; None, which makes no run a running one, if
    nothing is."""
    return steps(events) if events else None


async def add_report(session: WriteSession, submission_id: int, run_id: int, message: str) -> None:
    """Store what compilers said of a run's file. The run may still wait for its device."""
    data: EventData = {"message": message}
    await submissions.add_event(session, submission_id, run_id, EventKind.COMPILED, data)


def _event_data(event: ProgressEvent) -> EventData:
    fields: EventData = {
        "phase": event.phase,
        "index": event.index,
        "total": event.total,
        "spec": event.spec,
        "verdict": event.verdict,
        "message": event.message,
        "median_ns": event.median_ns,
        "duration_s": event.duration_s,
    }
    return {key: value for key, value in fields.items() if value is not None}
