"""What an event costs the API and Postgres, against those who follow a submission."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence

import psycopg

from benchmarks.board_data import AUTHOR_TOKEN, BOARD, PROBLEM, ServedBoard, served_board
from benchmarks.growth_rules import Curve, Point
from benchmarks.standings import URL
from benchmarks.standings_data import DEVICES
from kernelbot.accounts.tokens.text import token_hash
from kernelbot.client.asynchronous import AsyncKernelbotClient
from kernelbot.protocol import EventKind, Mode, Phase, ProgressEvent
from kernelbot.runs import store as runs
from kernelbot.runs.progress import steps
from kernelbot.server.wiring import Core, open_services
from kernelbot.store.code import using
from kernelbot.store.schema import this_code

_EVENTS = 20
_OPEN_AT_ONCE = 50
_PATIENCE_S = 120.0
_OF_ONE_ACCOUNT = 16
"""Connections: the server has a limit for each account."""


def against_followers(sizes: Sequence[int]) -> list[Curve]:
    """All of one submission, by accounts that may see it."""
    points = tuple(Point(size, _cost_ms(size)) for size in sizes)
    return [Curve("followers", "an event that all of them see", points)]


def _cost_ms(followers: int) -> float:
    with served_board(10) as board:
        _add_accounts(board.url, -(-followers // _OF_ONE_ACCOUNT))
        return asyncio.run(_event_ms(board, followers))


async def _event_ms(board: ServedBoard, followers: int) -> float:
    async with open_services(board.url, DEVICES) as core, _following(followers) as seen:
        before_s = board.used_s()
        await _tell(core, seen, followers)
        return (board.used_s() - before_s) * 1e3 / _EVENTS


def _add_accounts(url: str, count: int) -> None:
    """Organisers, who may follow each submission."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(*using(this_code()))
        for number in range(count):
            connection.execute(
                "WITH added AS (INSERT INTO users (name, role) VALUES (%s, 'admin') RETURNING id)"
                " INSERT INTO tokens (user_id, name, hash) SELECT id, 'benchmark', %s FROM added",
                (f"follower-{number}", token_hash(_token(number))),
            )


def _token(account: int) -> str:
    return f"kb_benchmark_follower_{account}"


class _Seen:
    """The submission that is followed, and how many events all of its followers have seen."""

    def __init__(self, submission_id: int, run_id: int) -> None:
        self.submission_id = submission_id
        self.run_id = run_id
        self.count = 0
        self.grew = asyncio.Condition()

    async def one_more(self) -> None:
        async with self.grew:
            self.count += 1
            self.grew.notify_all()

    async def reach(self, count: int) -> None:
        async with asyncio.timeout(_PATIENCE_S), self.grew:
            await self.grew.wait_for(lambda: self.count >= count)


@contextlib.asynccontextmanager
async def _following(followers: int) -> AsyncIterator[_Seen]:
    """A submission that waits, and streams of its events that have begun."""
    async with contextlib.AsyncExitStack() as stack:
        author = await stack.enter_async_context(AsyncKernelbotClient(URL, AUTHOR_TOKEN))
        code = min((PROBLEM / "solutions" / "correct").iterdir()).read_bytes()
        sent = await author.submit("mine.py", code, board=BOARD, mode=Mode.TEST)
        seen = _Seen(sent.id, sent.runs[0].id)
        clients = [
            await stack.enter_async_context(AsyncKernelbotClient(URL, _token(account)))
            for account in range(-(-followers // _OF_ONE_ACCOUNT))
        ]
        few = asyncio.Semaphore(_OPEN_AT_ONCE)
        async with asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(_follow(clients[number // _OF_ONE_ACCOUNT], seen, few))
                for number in range(followers)
            ]
            await seen.reach(followers)  # the first event: it waits
            yield seen
            for task in tasks:
                task.cancel()


async def _follow(client: AsyncKernelbotClient, seen: _Seen, few: asyncio.Semaphore) -> None:
    await few.acquire()
    opening = True
    async for _ in client.events(seen.submission_id, patience_s=_PATIENCE_S):
        await seen.one_more()
        if opening:
            few.release()
            opening = False


async def _tell(core: Core, seen: _Seen, followers: int) -> None:
    """One event after another, each when all have seen the one before it."""
    for number in range(_EVENTS):
        event = ProgressEvent(EventKind.CASE, Phase.TEST, number, _EVENTS, f"size: {number}")
        expected = seen.count + followers
        async with core.database.write() as session:
            await runs.add_progress(session, seen.submission_id, seen.run_id, steps([event]))
        await seen.reach(expected)
