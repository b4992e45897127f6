"""Sessions without a judge: most of what they do needs none."""

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from kernelbot import Judge
from kernelbot.catalog.problem import load_problem
from kernelbot.domain.errors import Conflict, InvalidSubmission, NotFound, UserError
from kernelbot.environment import episodes
from kernelbot.environment.episodes import Grounds
from kernelbot.environment.held_out import HeldOutSecret
from kernelbot.environment.messages import Action, ResetRequest, SourceKind
from kernelbot.environment.recording import Recorder, RecordNote
from kernelbot.environment.sessions import ClientSession, ClientSessions, SessionsTaken
from kernelbot.environment.settings import EpisodeRules, HeldOut, SessionLimits
from kernelbot.environment.tasks import Division, TaskSet
from tests.environment.examples import EXAMPLES
from tests.support.waiting import until, until_told

NAMES = ("sort_np", "prefixsum_np", "identity_np")
ACTION = Action(source="x = 1")
LAST = Action(source="x", kind=SourceKind.DIFF, is_last=True)


@dataclass
class Disk:
    """Its threads are all at work on something else once an action was refused."""

    threads: ThreadPoolExecutor
    is_free: threading.Event = field(default_factory=threading.Event)

    def refuses(self, *_: str) -> str:
        """In place of what applies a diff."""
        self.threads.submit(self.is_free.wait, 60)
        raise InvalidSubmission("It isn't a diff.")


def sessions(
    most: int = 3, idle_s: float = 600.0, recorder: Recorder | None = None
) -> ClientSessions:
    problems = [(name, load_problem(EXAMPLES / name)) for name in NAMES]
    tasks = TaskSet(problems, Division(), HeldOut.NOTHING, HeldOutSecret())
    # It is never opened: nothing is judged.
    grounds = Grounds(Judge(), EpisodeRules(), is_recorded=recorder is not None)
    return ClientSessions(
        lambda: ClientSession(grounds, tasks, recorder), SessionLimits(most, idle_s)
    )


def recorded(folder: Path) -> int:
    return len(list(folder.glob("*.parquet")))


async def has_room(found: ClientSessions) -> bool:
    """Whether an episode could be begun; then one is."""
    try:
        await found.reset(ResetRequest())
    except SessionsTaken:
        return False
    return True


async def test_there_is_room_for_so_many_and_one_that_ends_makes_room() -> None:
    found = sessions(most=2)
    first, _ = found.open(), found.open()
    with pytest.raises(SessionsTaken, match="All 2 sessions of this server are taken"):
        await found.reset(ResetRequest())
    await found.close(first)
    await found.close(first)
    await found.reset(ResetRequest())
    with pytest.raises(SessionsTaken):
        found.open()


async def test_a_reset_that_is_refused_takes_no_room() -> None:
    found = sessions(most=1)
    for wrong in (ResetRequest(split="nope"), ResetRequest(index=9), ResetRequest(task="nope")):
        with pytest.raises(UserError):
            await found.reset(wrong)
    await found.reset(ResetRequest(index=1))


async def test_the_same_seed_draws_the_same_task_and_a_named_one_is_given() -> None:
    found = sessions(most=30)
    drawn = [(await found.reset(ResetRequest(seed=seed))).task.id for seed in range(10)]
    again = [(await found.reset(ResetRequest(seed=seed))).task.id for seed in range(10)]
    assert drawn == again
    assert set(NAMES) == set(drawn)
    named = await found.reset(ResetRequest(task="prefixsum_np", seed=3))
    assert ("prefixsum_np", 3) == (named.task.id, named.metadata["seed"])
    assert "prefixsum_np" == (await found.reset(ResetRequest(split="train", index=1))).task.id


async def test_episodes_have_ids_of_their_own_or_their_clients() -> None:
    found = sessions(most=9)
    ids = {(await found.reset(ResetRequest())).metadata["episode_id"] for _ in range(3)}
    assert 3 == len(ids)
    await found.reset(ResetRequest(episode_id="../a b"))
    assert "../a b" == found.state("../a b").episode_id
    with pytest.raises(Conflict, match="There is an episode"):
        await found.reset(ResetRequest(episode_id="../a b"))
    with pytest.raises(NotFound, match="There is no episode of this id"):
        found.state("other")


async def test_an_idle_episode_ends_and_makes_room() -> None:
    found = sessions(most=1, idle_s=0.05)
    async with found.end_idle_sessions():
        begun = await found.reset(ResetRequest())
        await until_told(lambda: has_room(found))
        with pytest.raises(NotFound):
            found.state(begun.metadata["episode_id"])


async def test_a_step_before_the_first_reset_is_refused_in_a_sentence() -> None:
    session = sessions().open()
    with pytest.raises(Conflict, match="No episode has begun"):
        await session.step(ACTION)
    assert (None, 0) == (session.state().episode_id, session.state().step_count)


@pytest.fixture
def disk() -> Iterator[Disk]:
    with ThreadPoolExecutor(max_workers=1) as threads:
        busy = Disk(threads)
        yield busy
        busy.is_free.set()


@pytest.mark.parametrize("over", ["http", "socket"])
async def test_an_episode_whose_client_leaves_while_it_is_recorded_is_recorded_and_over(
    tmp_path: Path, disk: Disk, monkeypatch: pytest.MonkeyPatch, over: str
) -> None:
    asyncio.get_running_loop().set_default_executor(disk.threads)
    monkeypatch.setattr(episodes, "patched", disk.refuses)
    note = RecordNote(HeldOut.NOTHING, 1, Division())
    found = sessions(most=1, recorder=Recorder(tmp_path, note))
    if over == "http":
        number = (await found.reset(ResetRequest())).metadata["episode_id"]
        session = None
        step = asyncio.create_task(found.step(number, LAST, None))
        await until(lambda: found.state(number).done)
    else:
        session = found.open()
        await session.reset(ResetRequest())
        step = asyncio.create_task(session.step(LAST))
        await until(lambda: session.state().done)
    step.cancel()
    asyncio.get_running_loop().call_later(0.1, disk.is_free.set)
    with pytest.raises(asyncio.CancelledError):
        await step
    if session is not None:
        await found.close(session)
    assert 1 == recorded(tmp_path)
    assert await has_room(found)
