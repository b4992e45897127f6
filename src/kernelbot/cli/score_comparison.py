"""A submission's score beside its author's best other one and the leader's."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kernelbot.domain.states import SubmissionState
from kernelbot.protocol import Mode, Verdict
from kernelbot.render.text import one_line
from kernelbot.render.units import percent_text, seconds_text

if TYPE_CHECKING:
    from kernelbot.client import KernelbotClient
    from kernelbot.submissions.schemas import RunView, SubmissionView

_PAGE = 100
_PAGES = 2
"""An author's best is looked for among their newest submissions to the board, so many pages."""


@dataclass(frozen=True)
class OtherScore:
    """A score to compare with, of another submission. `author`: whose it is."""

    submission_id: int
    author: str
    score_s: float


@dataclass(frozen=True)
class ScoreComparison:
    """The score on one device. `own`: the best other one of its author, if they ask; `leader`: the
    first of the ranking; None: there is none, or it is the submission itself (`leads`)."""

    device: str
    score_s: float
    own: OtherScore | None
    leader: OtherScore | None
    leads: bool


def scores_to_compare(done: "SubmissionView") -> dict[str, float]:
    """By device; empty if it has no score that is compared."""
    if done.verdict is not Verdict.ACCEPTED or done.mode not in (Mode.LEADERBOARD, Mode.BENCHMARK):
        return {}
    return dict(_scores(done))


def compare_scores(client: "KernelbotClient", done: "SubmissionView") -> list[ScoreComparison]:
    """One for each device on which it has a score; empty if it has none that is compared. Somebody
    else's isn't compared with those of who asks. Raises what asking the server raises."""
    scores = scores_to_compare(done)
    if not scores:
        return []
    others = list(_others(client, done)) if client.me().name == done.author else []
    found = []
    for device, score_s in scores.items():
        own = min(
            (
                OtherScore(one.id, one.author, other_s)
                for one in others
                for other_device, other_s in _scores(one)
                if other_device == device
            ),
            key=lambda one: one.score_s,
            default=None,
        )
        leader = _leader(client, done.board, device)
        leads = leader is not None and leader.submission_id == done.id
        found.append(ScoreComparison(device, score_s, own, None if leads else leader, leads))
    return found


def comparison_lines(found: Sequence[ScoreComparison]) -> list[str]:
    """A line for each score that there is to compare with, each with its device if there are
    several."""
    lines = []
    for one in found:
        device = f"{one_line(one.device)}: " if len(found) > 1 else ""
        if one.own is not None:
            whose = f"your best other one, submission {one.own.submission_id}"
            lines.append(f"{device}{_against(one.score_s, whose, one.own.score_s)}")
        if one.leads:
            lines.append(f"{device}It leads the ranking")
        elif one.leader is not None:
            whose = f"the leader, {one_line(one.leader.author)}"
            lines.append(f"{device}{_against(one.score_s, whose, one.leader.score_s)}")
    return lines


def _against(score_s: float, whose: str, other_s: float) -> str:
    """How two scores differ: as a factor if it is large, else in percent."""
    ratio = score_s / other_s
    if ratio < 1:
        how = f"{1 / ratio:.2f} times as fast as"
    elif ratio < 2:
        how = f"{percent_text(ratio - 1)} to"
    else:
        how = f"{ratio:.2f} times the time of"
    return f"{how} {whose}: {seconds_text(other_s)}"


def _scores(submission: "SubmissionView") -> Iterator[tuple[str, float]]:
    """The score on each device: a ranked submission's is that of its secret run."""
    if submission.state is not SubmissionState.FINISHED:
        return
    ranked = submission.mode is Mode.LEADERBOARD
    for run in submission.runs:
        if run.secret is ranked and _counts(run):
            assert run.score_s is not None, "it counts"
            yield run.device, run.score_s


def _counts(run: "RunView") -> bool:
    return run.verdict is Verdict.ACCEPTED and bool(run.score_s)


def _others(client: "KernelbotClient", done: "SubmissionView") -> "Iterator[SubmissionView]":
    """The author's other ranked submissions to the board, the newest first."""
    before_id = None
    for _ in range(_PAGES):
        page = client.submissions(board=done.board, limit=_PAGE, before_id=before_id)
        for one in page.submissions:
            if one.id != done.id and one.mode is Mode.LEADERBOARD:
                yield one
        before_id = page.next_before_id
        if before_id is None:
            return


def _leader(client: "KernelbotClient", board: str, device: str) -> OtherScore | None:
    first = client.standings(board, device, limit=1).standings
    return OtherScore(first[0].submission_id, first[0].author, first[0].score_s) if first else None
