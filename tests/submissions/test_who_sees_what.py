"""Who sees what of a submission, whatever organisers change meanwhile: a few lines say it again."""

import asyncio
from datetime import UTC, datetime, timedelta
from enum import Enum, auto

from hypothesis import HealthCheck, settings
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)
from hypothesis.strategies import booleans, sampled_from

from kernelbot.accounts.model import NewToken, Role, User
from kernelbot.boards.model import Visibility
from kernelbot.boards.service import BoardEdit
from kernelbot.domain.errors import NotAllowed, NotFound
from kernelbot.protocol import Verdict
from kernelbot.submissions.views import FAILED_UNSEEN
from tests.fakes.host import result_of
from tests.support.judging import judging
from tests.support.problems import sort_problem
from tests.support.world import World, open_world

_CODE = "# ada's idea\n"
_PEOPLE = ("ada", "bob", "carl", "dora", "eve", "root")
"""The author, a competitor, the board's creator, another's, an admin, and who bans them."""
_NOW = datetime.now(UTC)
_DEADLINES = (None, _NOW - timedelta(days=1), _NOW + timedelta(days=1))


class _Seen(Enum):
    NOTHING = auto()
    """Not even that it is there."""
    REFUSED = auto()
    CODE = auto()
    ALL = auto()
    """Also what came of it on secret data."""


class Views(RuleBasedStateMachine):
    """Six people look at one submission after each step."""

    def __init__(self, loop: asyncio.Runner, world: World, people: dict[str, NewToken]) -> None:
        super().__init__()
        self._loop, self._world, self._people = loop, world, people
        self._root = people["root"].user
        self._closed = self._revealed = self._over = False
        self._banned: set[str] = set()
        self._members: set[str] = set()
        self._number = 0

    @initialize()
    def begin(self) -> None:
        self._loop.run(self._begin())

    async def _begin(self) -> None:
        services = self._world.services
        for name in _PEOPLE[:-1]:
            await services.users.unban(self._root, self._people[name].user.id)
        async with self._world.database.write() as session:
            await session.do("DELETE FROM submissions")
            await session.do("DELETE FROM leaderboards")
        carl = self._people["carl"].user
        await services.boards.create(carl, sort_problem("sort"), name="sort", devices=("CPU",))
        sent = await self._world.submit(self._people["ada"].user, content=_CODE.encode())
        self._number = sent.id
        judge = judging(self._world)
        for words in (["accepted"], ["runtime_error"]):
            claim = await judge.claim("CPU", "w")
            assert claim is not None
            assert await judge.finish(claim, "w", result_of(claim.spec, words))

    @rule(closed=booleans())
    def close(self, closed: bool) -> None:
        self._edit(BoardEdit(visibility=Visibility.CLOSED if closed else Visibility.PUBLIC))
        self._closed = closed

    @rule(revealed=booleans())
    def reveal(self, revealed: bool) -> None:
        self._edit(BoardEdit(reveal_code=revealed))
        self._revealed = revealed

    @rule(deadline=sampled_from(_DEADLINES))
    def set_deadline(self, deadline: datetime | None) -> None:
        self._edit(BoardEdit(deadline=deadline))
        self._over = deadline is not None and deadline < _NOW

    def _edit(self, edit: BoardEdit) -> None:
        self._loop.run(self._world.services.boards.edit(self._root, "sort", edit))

    @rule(name=sampled_from(_PEOPLE))
    def invite(self, name: str) -> None:
        if name not in self._banned:
            self._loop.run(self._invite(self._people[name].user))
            self._members.add(name)

    async def _invite(self, user: User) -> None:
        invites = self._world.services.invites
        await invites.join(user, (await invites.create(self._root, ("sort",))).codes[0])

    @rule(name=sampled_from(_PEOPLE[:-1]), banned=booleans())
    def ban(self, name: str, banned: bool) -> None:
        users = self._world.services.users
        change = users.ban if banned else users.unban
        self._loop.run(change(self._root, self._people[name].user.id))
        self._banned = self._banned | {name} if banned else self._banned - {name}

    def _expected(self, name: str) -> _Seen:
        if name in {"root", "eve"} - self._banned:
            return _Seen.ALL
        if name == "ada":
            return _Seen.CODE
        organises = name in {"carl"} - self._banned
        if self._closed and not organises and name not in self._members:
            return _Seen.NOTHING
        return _Seen.CODE if organises or (self._revealed and self._over) else _Seen.REFUSED

    @invariant()
    def everybody_sees_what_is_for_them(self) -> None:
        if self._number:
            expected = {name: (self._expected(name),) * 3 for name in _PEOPLE}
            assert expected == {name: self._loop.run(self._seen(name)) for name in _PEOPLE}

    async def _seen(self, name: str) -> tuple[_Seen, ...]:
        """In the submission, in its events, and of its times: what shows more isn't told apart."""
        viewer = await self._world.services.users.authenticate(self._people[name].token)
        looks = (self._in_submission(viewer), self._in_events(viewer), self._in_times(viewer))
        found = []
        for look in looks:
            try:
                found.append(await look)
            except NotFound:
                found.append(_Seen.NOTHING)
            except NotAllowed:
                found.append(_Seen.REFUSED)
        return tuple(found)

    async def _in_submission(self, viewer: User) -> _Seen:
        shown = await self._world.services.submissions.get(viewer, self._number)
        assert _CODE == shown.code
        told = next((run.verdict, run.message) for run in shown.runs if run.secret)
        if told == (Verdict.WRONG_ANSWER, FAILED_UNSEEN):
            return _Seen.CODE
        assert Verdict.RUNTIME_ERROR == told[0]
        return _Seen.ALL

    async def _in_events(self, viewer: User) -> _Seen:
        first = await anext(self._world.services.submissions.events(viewer, self._number))
        assert self._number == first.submission_id
        return self._as_admin(viewer)

    async def _in_times(self, viewer: User) -> _Seen:
        assert [] == await self._world.services.submissions.measured(viewer, self._number)
        return self._as_admin(viewer)

    def _as_admin(self, viewer: User) -> _Seen:
        admin = viewer.role is Role.ADMIN and viewer.banned_at is None
        return _Seen.ALL if admin else _Seen.CODE


async def _people(world: World) -> dict[str, NewToken]:
    create = world.services.users.create
    return {
        "ada": world.ada,
        "bob": world.bob,
        "carl": await create("carl", Role.CREATOR),
        "dora": await create("dora", Role.CREATOR),
        "eve": await create("eve", Role.ADMIN),
        "root": world.admin,
    }


def test_nobody_sees_more_or_less_than_is_for_them(database_url: str) -> None:
    bounds = settings(
        max_examples=6,
        stateful_step_count=10,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    with asyncio.Runner() as loop:
        opened = open_world(database_url)
        world = loop.run(opened.__aenter__())
        try:
            people = loop.run(_people(world))

            def views() -> Views:
                return Views(loop, world, people)

            run_state_machine_as_test(views, settings=bounds)  # type: ignore[arg-type]  # may be a function
        finally:
            loop.run(opened.__aexit__(None, None, None))
