"""States and their transitions. SQL has the same tables (`store/schema`)."""

from collections.abc import Iterable
from enum import StrEnum

from kernelbot.protocol import Verdict


class RunState(StrEnum):
    """The states of a run: queued -> dispatched -> running -> finished | cancelled.

    A run whose attempt is lost goes back to `QUEUED` while attempts remain; then it is `FINISHED`,
    as an `internal_error`. Only `FINISHED` has a verdict.
    """

    QUEUED = "queued"
    DISPATCHED = "dispatched"
    RUNNING = "running"
    FINISHED = "finished"
    CANCELLED = "cancelled"


class SubmissionState(StrEnum):
    """Derived from the runs and the review, never stored.

    `HELD`: judged, and kept from the ranking until an organiser has looked at it.
    """

    QUEUED = "queued"
    RUNNING = "running"
    FINISHED = "finished"
    CANCELLED = "cancelled"
    HELD = "held"


class ReviewState(StrEnum):
    """Whether a submission may be ranked. Suspicious is not guilty: a person decides."""

    CLEAR = "clear"
    HELD = "held"
    REFUSED = "refused"


REVIEW_TRANSITIONS: dict[ReviewState, frozenset[ReviewState]] = {
    ReviewState.CLEAR: frozenset({ReviewState.HELD, ReviewState.REFUSED}),
    ReviewState.HELD: frozenset({ReviewState.CLEAR, ReviewState.REFUSED}),
    ReviewState.REFUSED: frozenset({ReviewState.CLEAR}),
}


RUN_TRANSITIONS: dict[RunState, frozenset[RunState]] = {
    RunState.QUEUED: frozenset({RunState.DISPATCHED, RunState.CANCELLED, RunState.FINISHED}),
    RunState.DISPATCHED: frozenset(
        {RunState.RUNNING, RunState.QUEUED, RunState.FINISHED, RunState.CANCELLED}
    ),
    RunState.RUNNING: frozenset({RunState.QUEUED, RunState.FINISHED, RunState.CANCELLED}),
    RunState.FINISHED: frozenset(),
    RunState.CANCELLED: frozenset(),
}

MAX_ATTEMPTS = 3
"""Infrastructure failures after which a run ends as `internal_error`, our fault."""


def submission_state(
    runs: Iterable[RunState], review: ReviewState = ReviewState.CLEAR
) -> SubmissionState:
    """A submission's state: that of its least advanced run, or of the review once all runs have
    ended."""
    states = set(runs)
    if states & {RunState.DISPATCHED, RunState.RUNNING}:
        return SubmissionState.RUNNING
    if RunState.QUEUED in states:
        waiting_only = states == {RunState.QUEUED}
        return SubmissionState.QUEUED if waiting_only else SubmissionState.RUNNING
    if RunState.CANCELLED in states:
        return SubmissionState.CANCELLED
    return SubmissionState.HELD if review is ReviewState.HELD else SubmissionState.FINISHED


def worst(verdicts: Iterable[Verdict]) -> Verdict | None:
    """The worst of several verdicts, which is that of the whole; None if there are none."""
    return max(verdicts, key=list(Verdict).index, default=None)
