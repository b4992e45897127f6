"""What is known to be right of a board's problem: its starter files and `solutions/correct`, which
the platform judges itself, once for each device and version."""

from kernelbot.boards import store as boards
from kernelbot.boards.model import ProblemDefinition
from kernelbot.moderation.known_right import store as known_right
from kernelbot.moderation.reviews.model import ReviewRules
from kernelbot.moderation.reviews.service import hold_if_absurd, lock_to_hold
from kernelbot.protocol import RunResult, SourceFile
from kernelbot.runs import store as attempts
from kernelbot.runs.model import RunRef
from kernelbot.runs.queue.enqueueing import enqueue_all
from kernelbot.store.database import Database, WriteSession


async def request(session: WriteSession, leaderboard_id: int, device: str) -> None:
    """Ask that they are judged on a board's device, if nobody has for the problem as it is now.
    Call it when the first score is there to compare."""
    if await known_right.was_requested(session, leaderboard_id, device):
        return
    version_id = await known_right.version(session, leaderboard_id)
    definition = await boards.definition(session, version_id)
    files = files_of(definition)
    await known_right.request(session, leaderboard_id, device, version_id, files)


def files_of(definition: ProblemDefinition) -> tuple[SourceFile, ...]:
    """The problem's starter files, which may do nothing yet, and its right solutions, named for
    people."""
    starters = (
        SourceFile(f"starter file for {lang}", text) for lang, text in definition.templates.items()
    )
    return (*starters, *definition.solutions)


async def enqueue(database: Database, device: str) -> None:
    """Put those that wait into the queue."""
    await enqueue_all(database, device, known_right.enqueue)


async def finish(session: WriteSession, run: RunRef, result: RunResult, rules: ReviewRules) -> None:
    """Store how long it takes, and hold what stands and turns out to be absurd beside it. What
    wasn't accepted is no figure, e.g. a starter file that does nothing: nobody is to blame."""
    fault = await attempts.finish_unseen(session, run.id, result)
    score_s = result.score_s if fault is None and not result.suspicions else None
    await known_right.ended(session, run.id, score_s)
    if score_s is not None:
        await _look_again(session, run, rules, score_s)


async def fail(session: WriteSession, run: RunRef) -> None:
    """The file couldn't be judged."""
    await known_right.ended(session, run.id, None)


async def _look_again(
    session: WriteSession, run: RunRef, rules: ReviewRules, figure_s: float
) -> None:
    """Whoever was ranked before the figure was there is compared with it now: all who may be held
    are locked before the first is, which changes rankings."""
    if rules.hold_speedup is None:
        return
    below_s = figure_s / rules.hold_speedup
    found = await known_right.unreviewed_below(session, run.leaderboard_id, run.device, below_s)
    await lock_to_hold(session, run.leaderboard_id, run.device, found)
    held = True
    while held:
        first = await known_right.unreviewed(session, run.leaderboard_id, run.device)
        held = first is not None and await hold_if_absurd(session, first, rules)
