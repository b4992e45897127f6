"""Where a submission stands while it is judged: what its page shows, and is told live."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum

from kernelbot.domain.states import RunState
from kernelbot.protocol import Mode, Verdict
from kernelbot.protocol.phases import PHASES, judged_mode
from kernelbot.render.progress import COMPILING, RunProgress
from kernelbot.render.text import one_line
from kernelbot.render.units import to_go_text
from kernelbot.runs.model import Run
from kernelbot.runs.queue.model import DeviceQueuePosition
from kernelbot.submissions.model import BareSubmission, SubmissionEvent
from kernelbot.submissions.source import language_of

_NAMES = {
    COMPILING: "Build",
    "test": "Test",
    "benchmark": "Timed",
    "leaderboard": "Timed",
    "profile": "Profile",
}
_SECRET = "Timed on secret data"  # noqa: S105  # a step's name
_ENDED = (RunState.FINISHED, RunState.CANCELLED)


class StepState(StrEnum):
    NEXT = "next"
    NOW = "now"
    DONE = "done"
    FAILED = "failed"


@dataclass(frozen=True)
class ShownStep:
    """A part of the judging, in words (`Test: 3 of 5`), and how much of it is over, from 0 to 1."""

    text: str
    state: StepState
    share: float


@dataclass(frozen=True)
class RunText:
    """A run's number, and where it stands in words."""

    run: int
    text: str


@dataclass(frozen=True)
class LiveState:
    """All that the page of a submission shows while it is judged: the data of a `state` event."""

    headline: str
    detail: str
    title: str
    """The beginning of the browser's title."""
    steps: tuple[ShownStep, ...]
    runs: tuple[RunText, ...]
    elapsed_s: float
    """Since it was sent."""


class _RunSteps:
    """The steps of one run. Of a secret one there is a single step: what happens in it stays
    secret."""

    def __init__(self, run: Run, *, is_compiled: bool, several_devices: bool) -> None:
        verdict = run.verdict if run.state is RunState.FINISHED else None
        self.progress = RunProgress(run.state, verdict, repeats=run.repeats)
        self._secret = run.secret
        self._label = f"{one_line(run.device)}: " if several_devices else ""
        built = (COMPILING,) if is_compiled else ()
        mode = judged_mode(run.mode, secret=run.secret)
        self._phases = (*built, *map(str, PHASES[mode]))
        self._reached = 0

    def add(self, event: SubmissionEvent) -> None:
        self.progress.add(event)
        if self.progress.state is RunState.QUEUED:
            self._reached = 0
        elif self.progress.phase in self._phases:
            self._reached = self._phases.index(self.progress.phase)

    def steps(self) -> list[ShownStep]:
        if self._secret:
            return [self._step(0, _SECRET, counted=False)]
        return [
            self._step(index, _NAMES[phase], counted=phase == self.progress.phase)
            for index, phase in enumerate(self._phases)
        ]

    def _step(self, index: int, name: str, *, counted: bool) -> ShownStep:
        """`counted`: the run's counts are of this step."""
        state = self._state_of(index)
        name, done, total = self._label + name, self.progress.done, self.progress.total
        if state is StepState.NOW and counted and total:
            return ShownStep(f"{name}: {done} of {total}", state, min(1.0, done / total))
        return ShownStep(name, state, float(state in (StepState.DONE, StepState.FAILED)))

    def _state_of(self, index: int) -> StepState:
        progress, reached = self.progress, 0 if self._secret else self._reached
        if progress.state is RunState.FINISHED and progress.verdict is Verdict.ACCEPTED:
            return StepState.DONE
        if progress.state is RunState.FINISHED and index == reached:
            return StepState.FAILED
        if index < reached:
            return StepState.DONE
        running = progress.state is RunState.RUNNING
        return StepState.NOW if running and index == reached else StepState.NEXT


class SubmissionProgress:
    """Follows a submission's events, and says after each where it stands."""

    def __init__(
        self, submission: BareSubmission, runs: Sequence[Run], queued: DeviceQueuePosition | None
    ) -> None:
        """`queued`: where it waits; None: it doesn't."""
        self._submission = submission
        self._queued = queued
        several = len({run.device for run in runs}) > 1
        compiled = language_of(submission.file_name).is_compiled
        self._runs = {
            run.id: _RunSteps(run, is_compiled=compiled, several_devices=several) for run in runs
        }
        self._names = {run.id: _name(run, several) for run in runs}

    def add(self, event: SubmissionEvent) -> bool:
        """Add a step of a run; returns whether the run is one of these: a rejudge's isn't."""
        found = self._runs.get(event.run_id or 0)
        if found is None:
            return False
        found.add(event)
        if isinstance(event.kind, RunState) and event.kind is not RunState.QUEUED:
            self._queued = None  # it has left the queue, or waits for another device
        return True

    def waits_at(self, queued: DeviceQueuePosition) -> None:
        """The submission has another position in the queue."""
        self._queued = queued

    @property
    def state(self) -> LiveState:
        steps = [step for run in self._runs.values() for step in run.steps()]
        now = next((step.text for step in steps if step.state is StepState.NOW), "")
        number = self._submission.id
        sent = self._submission.created_at
        return LiveState(
            headline=self._headline,
            detail=self._detail,
            title=f"{now or self._headline} · Submission {number}",
            steps=tuple(steps),
            runs=tuple(RunText(run, one.progress.text) for run, one in self._runs.items()),
            elapsed_s=max(0.0, (datetime.now(UTC) - sent).total_seconds()),
        )

    @property
    def _headline(self) -> str:
        states = {one.progress.state for one in self._runs.values()}
        if states <= {RunState.QUEUED}:
            return "Waiting"
        return "Judged" if states <= set(_ENDED) else "Being judged"

    @property
    def _detail(self) -> str:
        states = {one.progress.state for one in self._runs.values()}
        if self._queued is not None and not states & {RunState.DISPATCHED, RunState.RUNNING}:
            return queue_text(self._queued)
        found = {
            f"{self._names[number]}: {_activity(one)}"
            for number, one in self._runs.items()
            if one.progress.state not in _ENDED
        }
        return "; ".join(sorted(found))


def _activity(run: _RunSteps) -> str:
    """What is being done, without the counts, which the steps have."""
    progress = run.progress
    if progress.state is not RunState.RUNNING or progress.waits or not progress.phase:
        return progress.text
    return _NAMES.get(progress.phase, progress.phase).lower()


def _name(run: Run, several_devices: bool) -> str:
    kind = "secret run" if run.secret else "public run"
    if run.mode is not Mode.LEADERBOARD:
        return one_line(run.device)
    return f"{one_line(run.device)}, {kind}" if several_devices else kind


def queue_text(queued: DeviceQueuePosition) -> str:
    left = "" if queued.wait_s is None else f", {to_go_text(queued.wait_s)}"
    stalled = f" Nothing is judged there just now: {queued.note}." if queued.note else ""
    return f"Position {queued.position} in the queue for {queued.device}{left}.{stalled}"
