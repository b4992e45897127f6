"""What the demo shows: one line per submission, moving on a terminal, plain elsewhere."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from kernelbot.domain.errors import KernelbotError
from kernelbot.domain.states import RunState, SubmissionState
from kernelbot.protocol import Verdict
from kernelbot.ranking.model import StandingsPage
from kernelbot.render.text import one_line
from kernelbot.render.units import interval_text, seconds_text
from kernelbot.submissions.model import SubmissionEvent, SubmissionView

Update = SubmissionEvent | SubmissionView | KernelbotError
BAR_WIDTH = 24
QUEUED = "queued"


@dataclass
class Entry:
    """One file to submit, and what became of it."""

    board: str
    author: str
    token: str
    file: Path
    submission: SubmissionView | None = None
    status: str = QUEUED

    @property
    def id(self) -> int:
        """The submission's id, once there is one."""
        assert self.submission is not None
        return self.submission.id

    @property
    def name(self) -> str:
        """`correct/fast.py`."""
        return f"{self.file.parent.name}/{self.file.name}"

    @property
    def should_pass(self) -> bool:
        """Whether its author expects it to be accepted."""
        return self.file.parent.name == "correct"

    @property
    def finished(self) -> bool:
        """Whether there is a verdict."""
        return self.submission is not None and self.submission.state in {
            SubmissionState.FINISHED,
            SubmissionState.CANCELLED,
        }

    @property
    def verdict(self) -> Verdict | None:
        """None until finished."""
        return self.submission.verdict if self.submission else None

    @property
    def as_expected(self) -> bool:
        """A correct file was accepted; a wrong one was refused through its author's fault."""
        if self.should_pass:
            return self.verdict is Verdict.ACCEPTED
        return self.finished and self.verdict not in {
            None,
            Verdict.ACCEPTED,
            Verdict.INTERNAL_ERROR,
        }

    @property
    def reason(self) -> str:
        """Why it was refused, in one line; empty when it wasn't."""
        runs = self.submission.runs if self.submission else []
        refused = [run for run in runs if run.verdict not in {None, Verdict.ACCEPTED}]
        # The public run tells its author more than the secret one may.
        refused.sort(key=lambda run: run.secret)
        message = next((run.message for run in refused if run.message), "")
        lines = message.strip().splitlines() or [""]
        # Of a traceback, the last line says what happened.
        return one_line(lines[-1 if "Traceback" in message else 0])


class DemoView:
    """Writes to stdout. Colours and live lines only on a terminal."""

    def __init__(self) -> None:
        self._console = Console(highlight=False, soft_wrap=True)
        self._live: Live | None = None
        self._entries: Sequence[Entry] = ()

    def step(self, text: str) -> None:
        """One more thing has been done."""
        self._console.print(f"[bold]>[/bold] {text}")

    def trouble(self, text: str) -> None:
        """Something is wrong."""
        self._console.print(Text(text, style="bold red"))

    @contextmanager
    def live(self, entries: Sequence[Entry]) -> Iterator[None]:
        """While this lasts, `update` keeps the lines of unfinished submissions current."""
        self._entries = entries
        self._console.print()
        if not self._console.is_terminal:
            yield
            return
        with Live(console=self._console, transient=True, refresh_per_second=10) as live:
            self._live = live
            yield
        self._live = None

    def update(self, entry: Entry, update: Update) -> None:
        """An event came, or the finished submission."""
        if isinstance(update, SubmissionView):
            entry.submission = update
            self._console.print(self._finished_line(entry))
        elif isinstance(update, SubmissionEvent):
            entry.status = _status(update)
        if self._live is not None:
            self._live.update(self._unfinished())

    def standings(self, page: StandingsPage) -> None:
        """One board's ranking, with a bar as long as the time."""
        self._console.print()
        self._console.print(Text(f"{page.board} on {page.device}", style="bold"))
        slowest = max((row.score_s for row in page.standings), default=1.0)
        for row in page.standings:
            bar = "▇" * max(1, round(BAR_WIDTH * row.score_s / slowest))
            low, high = row.ci95_s or (row.score_s, row.score_s)
            line = (
                f"  {row.rank:>2}  {row.author:<8}{seconds_text(row.score_s):>10}  "
                f"{bar:<{BAR_WIDTH}}  {row.file_name:<24}"
                f"95 %: {interval_text(low * 1e9, high * 1e9)}"
            )
            self._console.print(Text(line))

    def summary(self, entries: Sequence[Entry], took_s: float, data: Path) -> None:
        """How it went, and where to go next. `data`: the folder that the platform left."""
        well = sum(entry.as_expected for entry in entries)
        accepted = sum(entry.verdict is Verdict.ACCEPTED for entry in entries)
        self._console.print()
        self._console.print(
            f"{accepted} accepted, {len(entries) - accepted} refused; {well} of {len(entries)} "
            f"as their authors expect. Started, judged and stopped in {took_s:.1f} s."
        )
        self._console.print(
            "\nWhere next:\n"
            "  .venv/bin/kernelbot run examples/sort_np examples/sort_np/submission.py\n"
            "                                    judge a file without a server\n"
            f"  KERNELBOT_DATA={data} .venv/bin/kernelbot serve\n"
            "                                    look at these boards in a browser\n"
            "  .venv/bin/kernelbot serve         a platform of your own\n"
            "  docs/tutorial/first-kernel.md     write a kernel, submit it, see it ranked"
        )

    def _unfinished(self) -> Group:
        running = [e for e in self._entries if not e.finished and e.status != QUEUED]
        queued = sum(not e.finished and e.status == QUEUED for e in self._entries)
        lines = [
            Text(f"… {entry.status:<24} {entry.board:<16} {entry.author:<6} {entry.name}")
            for entry in running
        ]
        return Group(*lines, Text(f"  {queued} more in the queue", style="dim"))

    def _finished_line(self, entry: Entry) -> Text:
        verdict = entry.verdict or Verdict.INTERNAL_ERROR
        style = "green" if verdict is Verdict.ACCEPTED else "yellow"
        if not entry.as_expected:
            style = "bold red"
        sign = "✓" if verdict is Verdict.ACCEPTED else "✗"
        line = Text(f"{sign} {verdict.value.replace('_', ' '):<15}", style=style)
        score = entry.submission.score_s if entry.submission else None
        note = seconds_text(score) if score is not None else _clip(entry.reason, 70)
        line.append(f"{entry.board:<16} {entry.author:<6} {entry.name:<28} ", style="default")
        line.append(note, style="dim")
        if not entry.as_expected:
            expected = "accepted" if entry.should_pass else "refused, by its author's fault"
            line.append(f"  expected: {expected}", style="bold red")
        return line


def _clip(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 1]}…"


def _status(event: SubmissionEvent) -> str:
    phase, index, total = (event.data.get(key) for key in ("phase", "index", "total"))
    kind = "secret" if event.secret else "public"
    if event.kind is RunState.QUEUED:
        return QUEUED
    if phase is None:
        return f"{event.kind.value} ({kind})"
    if isinstance(index, int) and isinstance(total, int):
        return f"{phase} {index + 1}/{total} ({kind})"
    return f"{phase} ({kind})"
