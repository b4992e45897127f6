"""A submission while it is judged, as one message: its place in the queue, then a line per run."""

from kernelbot.domain.states import RunState
from kernelbot.protocol import Mode
from kernelbot.render.markdown import inline, plain
from kernelbot.render.progress import RunProgress, state_text
from kernelbot.render.units import seconds_text, to_go_text
from kernelbot.render.verdicts import mark
from kernelbot.runs.model import Run
from kernelbot.runs.queue.model import DeviceQueuePosition
from kernelbot.submissions.model import Submission, SubmissionEvent

_BAR = 8
_MODES = {Mode.LEADERBOARD: "ranked"}


def heading(submission: Submission) -> str:
    mode = _MODES.get(submission.mode, str(submission.mode))
    name = inline(submission.file_name)
    return f"**{plain(submission.board)}**, {mode}: {name}, submission {submission.id}"


def queue_text(queued: DeviceQueuePosition) -> str:
    wait = "" if queued.wait_s is None else f", {to_go_text(queued.wait_s)}"
    stalled = f"\n⚠️ {plain(queued.note)}" if queued.note else ""
    return f"⏳ Position {queued.position} in the queue for {plain(queued.device)}{wait}.{stalled}"


def _line(run: Run, found: RunProgress) -> str:
    name = f"{plain(run.device)} {'secret' if run.secret else 'public'}"
    if found.verdict is not None:
        return f"{mark(found.verdict)} {name}: {found.verdict.words}"
    if found.state is not RunState.RUNNING or not found.phase:
        return f"• {name}: {state_text(found.state, found.repeats, plain(found.reason))}"
    if not found.total:
        return f"▸ {name}: {found.phase}"
    share = min(found.done, found.total) * _BAR // found.total
    bar = "▰" * share + "▱" * (_BAR - share)
    return f"▸ {name}: {found.phase} {bar} {found.done} of {found.total}"


class ProgressMessage:
    """Follows the events of one submission."""

    def __init__(self, submission: Submission, queued: DeviceQueuePosition | None = None) -> None:
        self._submission = submission
        self._runs = {run.id: RunProgress() for run in submission.runs}
        self.queued = queued

    def add(self, event: SubmissionEvent) -> None:
        """Add a step; runs of rejudges aren't shown."""
        found = self._runs.get(event.run_id or 0)
        if found is not None:
            found.add(event)

    @property
    def waits(self) -> bool:
        """Whether a run still waits for its turn."""
        return any(one.state is RunState.QUEUED for one in self._runs.values())

    @property
    def text(self) -> str:
        parts = [heading(self._submission)]
        if self.queued is not None and self.waits:
            parts.append(queue_text(self.queued))
        if self._submission.not_ranked is not None:
            parts.append(plain(self._submission.not_ranked.sentence))
        parts += [_line(run, self._runs[run.id]) for run in self._submission.runs]
        return "\n".join(parts)


def score_text(score_s: float | None) -> str:
    return "" if score_s is None else seconds_text(score_s)
