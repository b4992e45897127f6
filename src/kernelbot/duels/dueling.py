"""What the end of a duel's run means. The ranking itself decides in SQL what a ratio is worth."""

from kernelbot.duels import store as duels
from kernelbot.duels.model import Ratio
from kernelbot.protocol import Fault, RunResult, Verdict
from kernelbot.protocol.waits import busy_share
from kernelbot.runs import store as attempts
from kernelbot.runs.model import RunRef
from kernelbot.runs.queue.enqueueing import enqueue_all
from kernelbot.runs.store import LockedRun
from kernelbot.store.database import Database, WriteSession

_MOOT = "the ranking has changed since it was asked for"
_UNJUDGED = "it couldn't be judged, through no fault of the two"
_RECURRING = "the data of its timed calls recurs, so that a kernel could remember its answers"
_BUSY = "the machine was busy: most calls waited for a processor that other programs had"
_DOUBTFUL = "the times that were seen contradict each other"


async def configure(database: Database, places: int | None) -> None:
    """From now on, in all processes: among so many first places of each ranking neighbours are
    dueled; None: there are no duels."""
    async with database.write() as session:
        await duels.configure(session, places)


async def enqueue(database: Database, device: str) -> None:
    """Put the device's duels into the queue."""
    await enqueue_all(database, device, duels.enqueue)


async def is_moot(session: WriteSession, run: LockedRun) -> bool:
    """Whether the run, which is next, is a duel's that decides nothing any more; then it has ended
    here, and the device has nothing to do for it."""
    if run.duel_id is None or run.attempts or await duels.can_decide(session, run.duel_id):
        return False
    await duels.cancel_run(session, run.id)
    await duels.failed(session, run.duel_id, _MOOT)
    return True


async def needs_another(session: WriteSession, run: RunRef, result: RunResult) -> bool:
    """Whether a duel's run has shown for the first time what would replace an author's best. Then
    it is measured once more, with other processes and data, and only who wins both has won: where
    a process happens to lie in memory is in no interval of that process's calls. So is one on a
    machine that was too busy to measure on, which counts as neither of both."""
    if run.duel_id is None:
        return False
    if run.repeats == 0 and _is_busy(result):
        return True
    if run.repeats > 1 or (run.repeats == 1 and not await _was_busy(session, run)):
        return False
    ratio = _ratio_of(result)
    return ratio is not None and await duels.would_win(session, run.duel_id, ratio)


def _is_busy(result: RunResult) -> bool:
    return result.duel is not None and busy_share(result) is not None


async def _was_busy(session: WriteSession, run: RunRef) -> bool:
    """Whether the last measurement before this one was on a busy machine."""
    before = await duels.returned(session, run.id)
    return before is not None and _is_busy(before)


def _ratio_of(result: RunResult) -> Ratio | None:
    is_sound = not result.suspicions and not result.recurring_data and busy_share(result) is None
    decides = result.verdict == Verdict.ACCEPTED and is_sound
    return Ratio.from_result(result.duel) if decides else None


async def finish(session: WriteSession, run: RunRef, duel_id: int, result: RunResult) -> None:
    """Store what a duel showed. If one of the two wasn't accepted, neither loses its place: both
    were accepted when they were measured, and it is one more chance to fail. But who stands behind
    doesn't share the rank ahead by failing. Why it failed stays untold, since the data is
    secret."""
    fault = await attempts.finish_unseen(session, run.id, result)
    ratio = _ratio_of(result)
    if ratio is not None:
        await duels.measured(session, duel_id, ratio)
    else:
        why = await _why(session, run, duel_id, result, fault)
        refused = fault is Fault.AUTHOR and not result.opponent_failed
        await duels.failed(session, duel_id, why, refused=refused)


async def fail(session: WriteSession, duel_id: int) -> None:
    """Ends a duel whose run has ended without a ratio, if nobody is to blame."""
    await duels.failed(session, duel_id, _UNJUDGED)


async def _why(
    session: WriteSession, run: RunRef, duel_id: int, result: RunResult, fault: Fault | None
) -> str:
    if result.recurring_data:
        return _RECURRING
    if result.verdict == Verdict.ACCEPTED:
        if busy_share(result) is not None:
            return _BUSY
        return _DOUBTFUL if result.suspicions else _UNJUDGED
    if fault is not Fault.AUTHOR:
        return _UNJUDGED
    failed = run.submission_id
    if result.opponent_failed:
        failed = await duels.opponent_of(session, duel_id) or failed
    return f"submission {failed} wasn't accepted in it"
