"""Shows a submission's life as it happens."""

import dataclasses
from typing import TYPE_CHECKING

from kernelbot.cli.outcome import wait_text
from kernelbot.cli.terminal import Terminal
from kernelbot.protocol import PROTOCOL_VERSION, EventKind, ProgressEvent, Verdict, from_wire
from kernelbot.render.progress import STATES, progress_line
from kernelbot.render.verdicts import TITLES

if TYPE_CHECKING:
    from kernelbot.client import KernelbotClient
    from kernelbot.schemas.submissions import EventView, QueueView, SubmissionView

_FIELDS = {field.name for field in dataclasses.fields(ProgressEvent)} - {"kind"}


def follow(
    client: "KernelbotClient", submission: "SubmissionView", terminal: Terminal
) -> "SubmissionView":
    """Show every step until the last; returns the submission as it then is."""
    several = len(submission.runs) > 1

    def on_queue(place: "QueueView") -> None:
        if place.position != submission.queue_position:  # that one was told when it was sent
            terminal.progress(f"position {place.position} in the queue{wait_text(place.wait_s)}")

    for event in client.events(submission.id, on_queue=on_queue):
        line = event_line(event)
        if line:
            terminal.progress(f"{_label(event)}{line}" if several else line)
    return client.submission(submission.id)


def event_line(event: "EventView") -> str | None:
    """What to show of it; None for nothing."""
    if isinstance(event.kind, EventKind) and event.kind is not EventKind.FINISHED:
        data = {key: value for key, value in event.data.items() if key in _FIELDS}
        wire = {"version": PROTOCOL_VERSION, "kind": event.kind, **data}
        return progress_line(from_wire(ProgressEvent, wire))
    verdict = event.data.get("verdict")
    if isinstance(verdict, str):
        return TITLES[Verdict(verdict)]
    return STATES.get(event.kind) if not isinstance(event.kind, EventKind) else None


def _label(event: "EventView") -> str:
    if event.device is None:
        return ""
    return f"[{event.device}{', secret' if event.secret else ''}] "
