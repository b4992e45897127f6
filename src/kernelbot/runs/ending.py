"""How a run ends, or goes back into the queue, in the transaction of whoever decides that."""

import random
from collections.abc import Sequence

from kernelbot.domain.states import MAX_ATTEMPTS, RunState
from kernelbot.duels import dueling
from kernelbot.moderation.known_right import service as known_right
from kernelbot.moderation.rejudges import store as rejudges
from kernelbot.protocol import Fault, Mode, RunResult, Verdict
from kernelbot.ranking import store as standings
from kernelbot.runs import store as attempts
from kernelbot.runs.model import RunRef
from kernelbot.runs.store import EventData, RunEnding, Step
from kernelbot.store.database import WriteSession
from kernelbot.submissions import store as submissions

_RETRY_DELAY_S = 2.0
_SCHEDULER_DELAY_S = 4.0
_LONGEST_DELAY_S = 50.0
"""Below the minute after which SQL takes a pause for a clock that was put back."""


async def lose(
    session: WriteSession,
    run: RunRef,
    attempt_id: int,
    owner: str,
    reason: str,
    fault: Fault,
    *,
    again: bool = True,
    progress: Sequence[Step] | None = None,
    counts: bool = True,
) -> bool:
    """End the attempt as lost, and put its run back into the queue; or end the run as our fault
    after the last attempt, or if another (not `again`) can't succeed. Not `counts`: it is given
    back instead, so that it isn't one of the attempts that a run may lose. False, and nothing is
    changed, if the attempt had ended or was taken over before. `progress`: what was told last."""
    state = "lost" if counts else "returned"
    if not await attempts.close(
        session, run, attempt_id, owner, state, failure=reason, progress=progress
    ):
        return False
    losses = await attempts.losses(session, run.id)
    if not again:
        await fail(session, run, fault, f"It can't be judged: {reason}")
    elif losses < MAX_ATTEMPTS:
        delay_s = _pause_s(losses, fault) if counts else 0.0  # who has lost it begins none now
        await requeue(session, run, {"reason": reason}, delay_s)
    else:
        message = f"Judging failed {MAX_ATTEMPTS} times through no fault of yours: {reason}"
        await fail(session, run, fault, message)
    return True


async def repeat(
    session: WriteSession,
    run: RunRef,
    attempt_id: int,
    owner: str,
    result: RunResult,
    why: str,
    *,
    progress: Sequence[Step] | None = None,
) -> bool:
    """Have the run measured again, before all others and alone. False as in `lose`. The attempt
    keeps its result, but what is measured last counts. `progress`: what it has told last."""
    if not await attempts.close(
        session, run, attempt_id, owner, "returned", result=result, progress=progress
    ):
        return False
    if await attempts.repeat_run(session, run.id):
        data: EventData = {"reason": why, "repeats": run.repeats + 1}
        await tell(session, run, RunState.QUEUED, data)
    return True


async def fail(session: WriteSession, run: RunRef, fault: Fault, message: str) -> None:
    """End the run through no fault of the author."""
    verdict = Verdict.INTERNAL_ERROR
    told: EventData = {"verdict": verdict, "fault": fault, "message": message}
    written = RunEnding(verdict, fault, message, told=told)
    await attempts.finish_run(session, run.id, written, followed_id=run.followed_id)
    await conclude(session, run)


async def lock(session: WriteSession, run: RunRef) -> None:
    """Lock what `conclude` changes and comes before submissions and rankings."""
    if run.rejudge_id is not None:
        await rejudges.lock(session, run.rejudge_id)


async def conclude(session: WriteSession, run: RunRef) -> None:
    """Do what follows from the end of a run that has its verdict: its rejudge or the ranking is
    brought up to date. A duel and what is known to be right have failed."""
    if run.duel_id is not None:
        await dueling.fail(session, run.duel_id)
        return
    if run.submission_id is None:
        await known_right.fail(session, run)
        return
    if run.rejudge_id is not None:
        await rejudges.ended(session, run.rejudge_id)
    elif run.mode == Mode.LEADERBOARD:
        await submissions.tell_that_it_waits(session, run.id)
        await standings.refresh(session, run.leaderboard_id, run.device, run.author_id)


async def requeue(session: WriteSession, run: RunRef, data: EventData, delay_s: float) -> None:
    """Put the run back into the queue, to be judged no earlier than after the delay, unless it has
    ended."""
    if await attempts.requeue_run(session, run.id, delay_s):
        await tell(session, run, RunState.QUEUED, data)


async def tell(session: WriteSession, run: RunRef, state: RunState, data: EventData) -> None:
    """Tell those who follow the run's submission, if there is one."""
    if run.followed_id is not None:
        await submissions.add_event(session, run.followed_id, run.id, state, data)


async def tell_whether_it_waits(session: WriteSession, run: RunRef, reason: str) -> None:
    """Tell them why the run's scheduler hasn't begun its job; empty: it has."""
    if reason:
        await tell(session, run, RunState.DISPATCHED, {"reason": reason})
    else:
        await tell(session, run, RunState.RUNNING, {})


def _pause_s(losses: int, fault: Fault) -> float:
    """Before the next attempt. A scheduler that fails is left in peace for a while that grows, and
    its jobs don't all come back at once; our own failures are rare and one by one."""
    if fault is Fault.SCHEDULER:
        longest_s = min(_SCHEDULER_DELAY_S * 2.0 ** (losses - 1), _LONGEST_DELAY_S)
        return longest_s * random.uniform(0.5, 1.0)
    return 0.0 if losses == 1 else _RETRY_DELAY_S
