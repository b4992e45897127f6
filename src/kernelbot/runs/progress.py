"""Progress of a run, as those who follow its submission see it."""

from collections.abc import Iterable, Mapping

from kernelbot.domain.states import RunState
from kernelbot.protocol import EventKind, ProgressEvent
from kernelbot.runs import store as attempts
from kernelbot.store.database import WriteSession
from kernelbot.submissions import store as submissions

EventData = Mapping[str, str | float | None]
"""What an event says besides its kind."""
_SAID_BY_STATES = (EventKind.STARTED, EventKind.FINISHED)


async def add_progress(
    session: WriteSession, submission_id: int | None, run_id: int, events: Iterable[ProgressEvent]
) -> None:
    """Store what a judge has told, in this order. The run, which the caller has locked, is running
    now at the latest. `submission_id` None: nobody follows it."""
    stored: list[tuple[EventKind | RunState, EventData]] = [
        (event.kind, _event_data(event)) for event in events if event.kind not in _SAID_BY_STATES
    ]
    if await attempts.run_started(session, run_id):
        stored.insert(0, (RunState.RUNNING, {}))
    if stored and submission_id is not None:
        await submissions.add_events(session, submission_id, run_id, stored)


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
