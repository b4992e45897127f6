"""Shows the progress of a submission."""

import dataclasses
from typing import TYPE_CHECKING, Protocol

from kernelbot.cli.moving import Moving
from kernelbot.cli.outcome import wait_text
from kernelbot.cli.terminal import Terminal
from kernelbot.domain.errors import KernelbotError
from kernelbot.protocol import PROTOCOL_VERSION, EventKind, ProgressEvent, Verdict, from_wire
from kernelbot.render.progress import RunActivity, is_report, progress_line, state_text

if TYPE_CHECKING:
    from kernelbot.client import KernelbotClient
    from kernelbot.runs.queue.model import QueuePosition
    from kernelbot.submissions.model import SubmissionEvent, SubmissionView

_FIELDS = {field.name for field in dataclasses.fields(ProgressEvent)} - {"kind"}


class StepDisplay(Protocol):
    """Shows the steps of a judging, as `Moving` does."""

    def now(self, text: str | None) -> None:
        """Set the current activity; None: no change."""

    def log(self, text: str | None) -> None:
        """A step, unless None."""

    def say(self, text: str) -> None:
        """Something that stays."""


def follow(
    client: "KernelbotClient", submission: "SubmissionView", terminal: Terminal
) -> "SubmissionView":
    """Show every step until the last; returns the submission as it then is. Raises as
    `KernelbotClient.events`; the hint of `Unreachable` then is the way back."""
    with Moving(terminal) as moving:
        return follow_with(client, submission, moving)


def follow_with(
    client: "KernelbotClient", submission: "SubmissionView", steps: StepDisplay
) -> "SubmissionView":
    """The same, shown elsewhere than on a terminal."""
    several = len(submission.runs) > 1
    activities: dict[int | None, RunActivity] = {}

    def on_queue(queued: "QueuePosition") -> None:
        why = f"; its device is not available: {queued.note}" if queued.note else ""
        text = f"position {queued.position} in the queue{wait_text(queued.wait_s)}{why}"
        steps.now(text)
        shown = (submission.queue_position, submission.queue_note)
        if (queued.position, queued.note) != shown:  # that one was shown when it was sent
            steps.log(text)

    def on_broken(error: KernelbotError) -> None:
        kept = f"Still trying; submission {submission.id} is kept there."
        steps.say(f"{error} {kept} {how_to_follow(submission.id)}")
        steps.now("not connected, trying again")

    for event in client.events(submission.id, on_queue=on_queue, on_broken=on_broken):
        label = _label(event) if several else ""
        progress = _progress(event)
        if progress is None:
            state = _state_text(event)
            steps.now(state and f"{label}{state}")
            steps.log(state and f"{label}{state}")
            continue
        activity = activities.setdefault(event.run_id, RunActivity()).after(progress)
        line = progress_line(progress)
        steps.now(activity and f"{label}{activity}")
        if line and is_report(progress):
            steps.say(f"{label}{line}")
            continue
        steps.log(line and f"{label}{line}")
    return client.submission(submission.id)


def how_to_follow(submission_id: int) -> str:
    """The way back to a submission that is judged while nobody looks."""
    return f"To follow it: kernelbot submission wait {submission_id}"


def _progress(event: "SubmissionEvent") -> ProgressEvent | None:
    """The harness's event; None for a change of the run's state."""
    if not isinstance(event.kind, EventKind) or event.kind is EventKind.FINISHED:
        return None
    data = {key: value for key, value in event.data.items() if key in _FIELDS}
    return from_wire(ProgressEvent, {"version": PROTOCOL_VERSION, "kind": event.kind, **data})


def _state_text(event: "SubmissionEvent") -> str | None:
    verdict = event.data.get("verdict")
    if isinstance(verdict, str):
        return Verdict(verdict).words
    if isinstance(event.kind, EventKind):
        return None
    return state_text(event.kind, event.data.get("repeats"), event.data.get("reason"))


def _label(event: "SubmissionEvent") -> str:
    if event.device is None:
        return ""
    return f"[{event.device}{', secret' if event.secret else ''}] "
