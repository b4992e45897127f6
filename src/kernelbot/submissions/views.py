"""What of a submission is shown to whom, as pure functions."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from kernelbot.accounts.model import User
from kernelbot.accounts.permissions import is_admin
from kernelbot.boards.model import Destination
from kernelbot.domain.states import ReviewState, RunState, SubmissionState, submission_state, worst
from kernelbot.domain.values import from_fields
from kernelbot.moderation.reviews.model import Evidence
from kernelbot.preflight.model import Preflight
from kernelbot.protocol import Fault, Mode, RunResult, Verdict
from kernelbot.ranking.model import NotRanked, NotRankedReason
from kernelbot.runs.model import Run
from kernelbot.runs.queue.model import DeviceQueuePosition
from kernelbot.runs.repeats import is_unranked_text
from kernelbot.runs.samples.model import without_seed
from kernelbot.runs.samples.rules import may_see_samples
from kernelbot.submissions.creation.store import AddedRun
from kernelbot.submissions.model import (
    BareSubmission,
    NewSubmission,
    RankedSubmission,
    Submission,
    SubmissionEvent,
)

FAILED_UNSEEN = "The run on the secret data did not pass; what it found stays secret."
UNJUDGED_UNSEEN = (
    "The run on the secret data couldn't be judged, through no fault of the submission; why is for "
    "organisers to see."
)
REFUSED_UNSEEN = (
    "The run on the secret data was refused by the rules, not for its output: its times or its "
    "conduct contradict what was seen. Organisers can read the evidence."
)


def sees_secret(viewer: User) -> bool:
    """Whether the results of secret runs are for this person."""
    return is_admin(viewer)


@dataclass(frozen=True)
class SubmissionSnapshot:
    """A submission as somebody found it, less what never changes of it: its code, and the results
    of the runs that have finished. So of the same submission equal snapshots show the same."""

    row: BareSubmission
    runs: tuple[Run, ...]
    places: tuple[RankedSubmission, ...]
    evidence: tuple[Evidence, ...]
    queue: DeviceQueuePosition | None
    """None: nothing of it waits."""
    secret: bool
    """Whether the viewer sees the results of secret runs."""
    preflights: tuple[tuple[int, int | None], ...] = ()
    """Ids of what compilers said of it, each with that of the author's version before, or None."""
    stamp: int | None = field(default=None, compare=False)
    """That which `Submissions.look` finds, of the same moment; None: it wasn't asked for, or what
    others than its author are shown depends on more."""

    @property
    def id(self) -> int:
        return self.row.id


def whole(
    snapshot: SubmissionSnapshot,
    code: str,
    results: dict[int, RunResult],
    preflights: tuple[Preflight, ...] = (),
) -> Submission:
    """What was looked at with what was left out."""
    # Of what has finished since the snapshot nothing is shown yet.
    of_then = {
        run.id: results.get(run.id) for run in snapshot.runs if run.state is RunState.FINISHED
    }
    runs = with_results(
        snapshot.runs,
        of_then,
        sees_secret=snapshot.secret,
        seed_is_shared=snapshot.row.seed_is_shared,
    )
    shown = submission(
        replace(snapshot.row, code=code),
        runs,
        snapshot.places,
        snapshot.evidence,
        sees_secret=snapshot.secret,
    )
    return replace(shown, preflights=preflights, **_waiting(snapshot.queue))


def with_results(
    runs: Iterable[Run],
    results: Mapping[int, RunResult | None],
    *,
    sees_secret: bool,
    seed_is_shared: bool,
) -> list[Run]:
    """The runs with what the viewer may know of their results: of secret runs the times, if these
    are for them."""
    shown = list[Run]()
    for run in runs:
        result = results.get(run.id)
        if result is not None and run.secret and not sees_secret:
            seen = may_see_samples(run, sees_secret=False, seed_is_shared=seed_is_shared)
            result = _times_alone(result) if seen else None
        shown.append(replace(run, result=result))
    return shown


def _times_alone(result: RunResult) -> RunResult:
    """What was timed, and where; nothing that came of the data, and nothing that the code said of
    it. The workloads are called by what the problem says of them, which is no secret, but for the
    seed, which wasn't used."""
    phases = tuple(
        replace(
            phase,
            cases=(),
            failure=None,
            workloads=tuple(
                replace(load, spec=without_seed(load.spec, index), extra={})
                for index, load in enumerate(phase.workloads)
            ),
        )
        for phase in result.phases
        if phase.workloads
    )
    return replace(
        result,
        phases=phases,
        failure=None,
        compile=None,
        stdout="",
        stderr="",
        artifacts=(),
        suspicions=(),
        system=replace(result.system, notes=()),
    )


def new_submission(
    author: User,
    board: Destination,
    new: NewSubmission,
    code: str,
    added: list[AddedRun],
    same_code: int | None,
    queued: DeviceQueuePosition | None,
) -> Submission:
    """A submission as its author sees it the moment it was taken in: all of it waits at `queued`.
    `same_code`: the submission whose code it is, so that it won't be ranked."""
    runs = tuple(
        from_fields(
            Run,
            run,
            mode=new.mode,
            state=RunState.QUEUED,
            verdict=None,
            score_s=None,
            attempts=0,
            started_at=None,
            finished_at=None,
            fault=None,
            message=None,
            result=None,
        )
        for run in added
    )
    not_ranked = None
    if same_code is not None:
        not_ranked = NotRanked.because(NotRankedReason.SAME_CODE, same_code)
    return Submission(
        id=runs[0].submission_id,
        board_id=board.id,
        board=board.name,
        author=author.name,
        author_id=author.id,
        file_name=new.file_name,
        mode=new.mode,
        created_at=runs[0].created_at,
        state=SubmissionState.QUEUED,
        verdict=None,
        score_s=None,
        place=None,
        runs=runs,
        code=code,
        not_ranked=not_ranked,
        **_waiting(queued),
    )


def _waiting(queued: DeviceQueuePosition | None) -> dict[str, Any]:
    """What a submission says of its place in the queue."""
    if queued is None:
        return {}
    return {"queue_position": queued.position, "wait_s": queued.wait_s, "queue_note": queued.note}


def submission(
    row: BareSubmission,
    runs: Sequence[Run],
    places: Sequence[RankedSubmission],
    evidence: tuple[Evidence, ...] = (),
    *,
    sees_secret: bool = False,
) -> Submission:
    """A submission with everything that is derived from its runs. `sees_secret`: its viewer reads
    why a secret run failed, also one that was lost and has no result."""
    shown = tuple(
        _pass_or_fail(run) if run.secret and run.result is None and not sees_secret else run
        for run in runs
    )
    state = submission_state((run.state for run in shown), row.review)
    verdict = None
    if state in (SubmissionState.FINISHED, SubmissionState.HELD):
        verdict = worst(run.verdict for run in shown if run.verdict is not None)
    if state is SubmissionState.FINISHED and row.review is ReviewState.REFUSED:
        verdict = Verdict.RULE_VIOLATION
    score_s, device = _score(row.mode, shown)
    rank = next((place.rank for place in places if place.device == device), None)
    over = state in (SubmissionState.FINISHED, SubmissionState.HELD, SubmissionState.CANCELLED)
    not_ranked = next(
        (run.not_ranked for run in shown if run.secret and (run.device == device or not over)), None
    )
    return from_fields(
        Submission,
        row,
        state=state,
        verdict=verdict,
        score_s=score_s,
        place=rank.number if rank else None,
        place_is_shared=rank is not None and rank.shared,
        runs=shown,
        evidence=evidence,
        not_ranked=not_ranked,
    )


def event(found: SubmissionEvent, viewer: User) -> SubmissionEvent | None:
    """The event as the viewer may see it; None: not at all."""
    if not found.secret or sees_secret(viewer):
        return found
    if not isinstance(found.kind, RunState):
        return None
    data = dict(found.data)
    if data.get("fault") == Fault.AUTHOR:
        verdict, message = shown_of_secret(data.get("verdict"))
        data |= {"verdict": verdict, "message": message}
    elif data.get("verdict") == Verdict.INTERNAL_ERROR:
        data |= {"message": _unjudged(data.get("message"))}
    elif "repeats" not in data:  # why it was lost; why it is measured again is for its author
        data.pop("reason", None)
    return replace(found, data=data)


def _pass_or_fail(run: Run) -> Run:
    """A secret run for its author: a way of failing would tell something of the data, and so may
    what the problem's own code complained of."""
    if run.fault != Fault.AUTHOR:
        unjudged = run.verdict is Verdict.INTERNAL_ERROR
        return replace(run, message=_unjudged(run.message)) if unjudged else run
    verdict, message = shown_of_secret(run.verdict)
    return replace(run, verdict=verdict, message=message)


def _unjudged(message: object) -> str:
    """Why a secret run has no verdict, for its author."""
    return message if isinstance(message, str) and is_unranked_text(message) else UNJUDGED_UNSEEN


def shown_of_secret(verdict: object) -> tuple[Verdict, str]:
    """What an author learns of a failure on secret data: whether it was the output or the rules."""
    if verdict == Verdict.RULE_VIOLATION:
        return Verdict.RULE_VIOLATION, REFUSED_UNSEEN
    return Verdict.WRONG_ANSWER, FAILED_UNSEEN


def _score(mode: Mode, runs: tuple[Run, ...]) -> tuple[float | None, str | None]:
    """The best device's score, and that device; ranked submissions score on secret data."""
    ranked = mode == Mode.LEADERBOARD
    refused = {run.device for run in runs if run.verdict != Verdict.ACCEPTED}
    scores = [
        (run.score_s, run.device)
        for run in runs
        if run.secret == ranked and run.score_s is not None and run.device not in refused
    ]
    return min(scores, default=(None, None))
