"""A submission while it is judged, as one message: its place in the queue, then a line per run."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from kernelbot.domain.states import RunState
from kernelbot.domain.types import Event, QueuePlace, Run, Submission
from kernelbot.protocol import EventKind, Mode, Verdict
from kernelbot.render.markdown import inline, plain
from kernelbot.render.progress import STATES
from kernelbot.render.units import seconds_text
from kernelbot.render.verdicts import TITLES, mark

_BAR = 8
_MODES = {Mode.LEADERBOARD: "ranked"}


def heading(submission: Submission) -> str:
    """Which submission it is."""
    mode = _MODES.get(submission.mode, str(submission.mode))
    name = inline(submission.file_name)
    return f"**{plain(submission.board)}**, {mode}: {name}, submission {submission.id}"


def queue_text(place: QueuePlace) -> str:
    """Where it waits, and how long still."""
    wait = ""
    if place.wait_s is not None:
        wait = ", any moment now" if place.wait_s < 1 else f", about {_wait(place.wait_s)} to go"
    stalled = f"\n⚠️ {plain(place.note)}" if place.note else ""
    return f"⏳ Position {place.position} in the queue for {plain(place.device)}{wait}.{stalled}"


def _wait(wait_s: float) -> str:
    return f"{wait_s:.0f} s" if wait_s < 90 else f"{wait_s / 60:.0f} min"


@dataclass
class _Line:
    """One run. `done` of `total` cases or workloads of a phase."""

    run: Run
    state: RunState = RunState.QUEUED
    phase: str = ""
    done: int = 0
    total: int = 0
    verdict: Verdict | None = None
    seen: set[str] = field(default_factory=set)

    def add(self, event: Event) -> None:
        """One more step."""
        if isinstance(event.kind, RunState):
            self._change(event.kind, event.data)
        elif event.kind is EventKind.PHASE_STARTED:
            self.phase, self.done = str(event.data.get("phase", "")), 0
            self.total = _count(event.data.get("total"))
        elif event.kind in (EventKind.CASE, EventKind.WORKLOAD):
            self.done += 1

    def _change(self, state: RunState, data: Mapping[str, object]) -> None:
        self.state = state
        if state is RunState.QUEUED:  # another attempt
            self.phase, self.done, self.total = "", 0, 0
        if state is RunState.FINISHED and "verdict" in data:
            self.verdict = Verdict(str(data["verdict"]))

    @property
    def text(self) -> str:
        """As it stands."""
        name = f"{plain(self.run.device)} {'secret' if self.run.secret else 'public'}"
        if self.verdict is not None:
            return f"{mark(self.verdict)} {name}: {TITLES[self.verdict]}"
        if self.state is not RunState.RUNNING or not self.phase:
            return f"• {name}: {STATES[self.state]}"
        if not self.total:
            return f"▸ {name}: {self.phase}"
        share = min(self.done, self.total) * _BAR // self.total
        bar = "▰" * share + "▱" * (_BAR - share)
        return f"▸ {name}: {self.phase} {bar} {self.done} of {self.total}"


class Progress:
    """Follows the events of one submission."""

    def __init__(self, submission: Submission, place: QueuePlace | None = None) -> None:
        self._submission = submission
        self._lines = {run.id: _Line(run) for run in submission.runs}
        self.place = place

    def add(self, event: Event) -> None:
        """One more step; runs of rejudges aren't shown."""
        line = self._lines.get(event.run_id or 0)
        if line is not None:
            line.add(event)

    @property
    def waits(self) -> bool:
        """Whether a run still waits for its turn."""
        return any(line.state is RunState.QUEUED for line in self._lines.values())

    @property
    def text(self) -> str:
        """The whole message."""
        parts = [heading(self._submission)]
        if self.place is not None and self.waits:
            parts.append(queue_text(self.place))
        parts += [line.text for line in self._lines.values()]
        return "\n".join(parts)


def score_text(score_s: float | None) -> str:
    """A score, or nothing."""
    return "" if score_s is None else seconds_text(score_s)


def _count(value: object) -> int:
    return value if isinstance(value, int) and 0 < value < 10**6 else 0
