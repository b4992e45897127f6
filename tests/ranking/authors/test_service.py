"""What an author's page shows to whom: nothing that rankings and trends don't show as well."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from kernelbot.accounts.model import AuthorPage, User
from kernelbot.boards.model import Visibility
from kernelbot.boards.service import BoardEdit
from kernelbot.domain.errors import NotFound
from kernelbot.protocol import Mode
from kernelbot.ranking.authors import store
from kernelbot.ranking.authors.model import ActiveDay, Author, AuthorScores, AuthorStanding
from kernelbot.ranking.authors.service import Authors
from kernelbot.store.sqlfiles import statements
from tests.support.ranked import ranked
from tests.support.world import World


async def page(world: World, viewer: User | None = None) -> Author:
    """Ada's."""
    return await world.services.authors.get(viewer, world.ada.user.id)


async def is_there(world: World, viewer: User | None = None) -> bool:
    try:
        await page(world, viewer)
    except NotFound:
        return False
    return True


async def closed(world: World, board: str = "sort") -> None:
    edit = BoardEdit(visibility=Visibility.CLOSED)
    await world.services.boards.edit(world.admin.user, board, edit)


async def ended(world: World, board: str = "sort", *, reveals: bool = False) -> None:
    async with world.database.write() as session:
        await session.do(
            "UPDATE leaderboards SET deadline = now() - interval '1 s', reveal_code = %(reveals)s"
            " WHERE name = %(board)s",
            {"board": board, "reveals": reveals},
        )


async def dated(world: World, submission_id: int, moment: datetime) -> None:
    """The submission is of that moment."""
    async with world.database.write() as session:
        await session.do(
            "UPDATE submissions SET created_at = %(at)s WHERE id = %(id)s",
            {"at": moment, "id": submission_id},
        )


def on_all_days(author: Author) -> int:
    """How many submissions are counted; midnight may pass between two."""
    return sum(day.submissions for day in author.days)


async def invited(world: World) -> User:
    """Bob, once he has joined `sort`."""
    made = await world.services.invites.create(world.admin.user, ("sort",))
    await world.services.invites.join(world.bob.user, made.codes[0])
    return world.bob.user


async def test_a_page_has_the_places_of_the_rankings(world: World) -> None:
    await world.board(devices=("CPU", "H100"))
    await ranked(world, 2e-3)
    await ranked(world, 1e-3, author=world.bob.user)
    await ranked(world, 3e-3, device="H100")
    found = await page(world)
    assert {("CPU", 2, 2), ("H100", 1, 1)} == {
        (one.device, one.rank, one.authors) for one in found.standings
    }


async def test_a_place_follows_the_ranking(world: World) -> None:
    await world.board()
    await ranked(world, 2e-3)
    before = (await page(world)).standings[0].rank
    await ranked(world, 1e-3, author=world.bob.user)
    assert (1, 2) == (before, (await page(world)).standings[0].rank)


async def test_a_shared_place_is_shown_as_one(world: World) -> None:
    await world.board()
    await ranked(world, 1.01e-3, relative_error=0.05)
    alone = (await page(world)).standings[0]
    await ranked(world, 1e-3, author=world.bob.user, relative_error=0.05)
    together = (await page(world)).standings[0]
    assert [(1, False), (1, True)] == [(one.rank, one.shared) for one in (alone, together)]


async def test_the_history_has_the_scores_that_count_the_newest_first(world: World) -> None:
    await world.board()
    for score_s in (3e-3, 2e-3):
        await ranked(world, score_s)
    await world.submit(content=b"# waits")
    found = (await page(world)).history.scores
    assert [2e-3, 3e-3] == [one.score_s for one in found]


async def test_the_history_continues_where_it_ended(world: World) -> None:
    await world.board()
    made = [await ranked(world, score_s) for score_s in (4e-3, 3e-3, 2e-3)]
    ask, ada = world.services.authors, world.ada.user
    first = (await ask.get(None, ada.id, limit=2)).history
    last = (await ask.get(None, ada.id, limit=2, before_id=first.next_before_id)).history
    shown = [one.submission_id for one in (*first.scores, *last.scores)]
    assert (list(reversed(made)), None) == (shown, last.next_before_id)


async def test_days_count_submissions(world: World) -> None:
    await world.board()
    noon = datetime.now(UTC).replace(hour=12) - timedelta(days=2)
    before_midnight, midnight = noon.replace(hour=23, minute=59), noon.replace(hour=0, minute=0)
    for score_s, made_at in ((4e-3, before_midnight), (3e-3, midnight), (2e-3, noon)):
        await dated(world, await ranked(world, score_s), made_at)
    await dated(world, await ranked(world, 1e-3), noon + timedelta(days=1))
    assert [ActiveDay(noon.date(), 3), ActiveDay(noon.date() + timedelta(days=1), 1)] == list(
        (await page(world)).days
    )


async def test_days_are_counted_again_after_a_minute(world: World) -> None:
    times_s = [0.0]
    ask = Authors(world.database, clock=lambda: times_s[-1])
    await world.board()
    counts = []
    for now_s, score_s in ((0.0, 3e-3), (59.0, 2e-3), (61.0, 1e-3)):
        times_s.append(now_s)
        await ranked(world, score_s)
        counts.append(on_all_days(await ask.get(None, world.ada.user.id)))
    assert [1, 1, 3] == counts


async def test_scores_look_at_no_submission_that_cannot_be_ranked(world: World) -> None:
    board = await world.board()
    await ranked(world, 1e-3)
    for number in range(5):
        await world.submit(mode=Mode.TEST, content=f"# {number}".encode())
    query = f"EXPLAIN (ANALYZE, FORMAT JSON) {statements(store.__file__)['scores']}"
    values = {
        "author_id": world.ada.user.id,
        "board_ids": [board.id],
        "limit": 50,
        "before_id": None,
    }
    async with world.database.read() as session:
        row = await session.one(query, values)
    assert row is not None
    (found,) = row["QUERY PLAN"]
    outer = [node for node in _nodes(found["Plan"]) if node.get("Alias") == "s"]
    assert [1] == [node["Actual Rows"] for node in outer]


def _nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for below in plan.get("Plans", ()):
        yield from _nodes(below)


@pytest.mark.parametrize(
    ("rank", "ended", "medal"), [(1, True, 1), (3, True, 3), (4, True, None), (1, False, None)]
)
def test_a_podium_of_a_board_that_has_ended_is_a_medal(
    rank: int, ended: bool, medal: int | None
) -> None:
    standing = AuthorStanding(
        "sort", "CPU", rank, 9, 1e-3, None, 1, datetime.now(UTC), False, ended, False, False
    )
    assert medal == standing.medal


def test_medals_are_counted_by_rank_the_best_first() -> None:
    standings = tuple(
        AuthorStanding(
            board, "CPU", rank, 9, 1e-3, None, 1, datetime.now(UTC), False, True, False, False
        )
        for board, rank in (("sort", 3), ("scan", 1), ("sum", 4), ("add", 3))
    )
    author = Author(1, "ada", False, standings, (), AuthorScores((), None))
    assert [(1, 1), (3, 2)] == list(author.medal_counts.items())


async def test_a_medal_waits_for_the_deadline(world: World) -> None:
    await world.board()
    await ranked(world, 1e-3)
    before = (await page(world)).medals
    await ended(world)
    assert (0, 1) == (len(before), len((await page(world)).medals))


async def test_who_is_on_no_board_that_the_viewer_sees_is_nobody(world: World) -> None:
    await world.board()
    nothing = [await is_there(world, viewer) for viewer in (None, world.bob.user)]
    own = [await is_there(world, viewer) for viewer in (world.ada.user, world.admin.user)]
    assert ([False, False], [True, True]) == (nothing, own)


async def test_a_board_by_invite_is_on_the_page_for_its_members_alone(world: World) -> None:
    await world.board()
    await ranked(world, 1e-3)
    await world.board("open")
    await ranked(world, 2e-3, board="open")
    await closed(world)
    before = await page(world, world.bob.user)
    member = await page(world, await invited(world))
    assert ["open"] == [one.board for one in before.standings]
    assert ["open"] == [one.board for one in before.history.scores]
    assert [1, 2] == [on_all_days(found) for found in (before, member)]
    assert {"open", "sort"} == {one.board for one in member.standings}


async def test_only_a_board_by_invite_is_no_page_for_others(world: World) -> None:
    await world.board()
    await ranked(world, 1e-3)
    await closed(world)
    assert [False, False, True] == [
        await is_there(world, viewer) for viewer in (None, world.bob.user, world.ada.user)
    ]


async def test_a_private_page_is_for_its_author_and_admins(world: World) -> None:
    await world.board()
    await ranked(world, 1e-3)
    await world.services.users.set_author_page(world.ada.user, AuthorPage(private=True))
    viewers = (None, world.bob.user, world.ada.user, world.admin.user)
    assert [False, False, True, True] == [await is_there(world, viewer) for viewer in viewers]


async def test_the_error_doesnt_tell_a_private_page_from_none(world: World) -> None:
    await world.board()
    await ranked(world, 1e-3)
    await world.services.users.set_author_page(world.ada.user, AuthorPage(private=True))
    said = set()
    for number in (world.ada.user.id, world.bob.user.id, 10**6, 2**70):
        with pytest.raises(NotFound) as error:
            await world.services.authors.get(None, number)
        said.add(str(error.value))
    for name in ("ada", "bob", "nobody", "a'; echo x", "\x00"):
        with pytest.raises(NotFound) as error:
            await world.services.authors.named(None, name)
        said.add(str(error.value))
    assert 1 == len(said)


async def test_what_is_held_counts_nowhere(world: World) -> None:
    await world.board()
    made = await ranked(world, 1e-3)
    async with world.database.write() as session:
        await session.do(
            "UPDATE submissions SET review = 'held', review_reason = 'odd' WHERE id = %(id)s",
            {"id": made},
        )
        await session.one(
            "SELECT refresh_standing(leaderboard_id, 'CPU', author_id) FROM submissions"
            " WHERE id = %(id)s",
            {"id": made},
        )
    assert ((), (), ()) == await _shown(world)


async def test_what_is_deleted_is_gone(world: World) -> None:
    await world.board()
    made = await ranked(world, 1e-3)
    await world.services.deletion.delete_submission(world.ada.user, made)
    assert ((), (), ()) == await _shown(world)


async def test_a_ban_takes_the_page_away(world: World) -> None:
    await world.board()
    await ranked(world, 1e-3)
    await world.services.users.ban(world.admin.user, world.ada.user.id)
    assert not await is_there(world)


async def _shown(world: World) -> tuple[object, ...]:
    found = await page(world, world.ada.user)
    return found.standings, found.history.scores, found.days


@pytest.mark.parametrize(
    ("reveals", "expected"),
    [(False, [False, False, True, True]), (True, [False, True, True, True])],
)
async def test_a_score_leads_to_the_code_for_those_who_may_read_it(
    world: World, reveals: bool, expected: list[bool]
) -> None:
    await world.board()
    await ranked(world, 1e-3)
    await ended(world, reveals=reveals)
    viewers = (None, world.bob.user, world.ada.user, world.admin.user)
    found = [(await page(world, viewer)) for viewer in viewers]
    assert expected == [one.history.scores[0].code_is_shown for one in found]
    assert expected == [one.standings[0].code_is_shown for one in found]


async def test_a_name_in_upper_case_is_found_and_a_new_name_as_well(world: World) -> None:
    await world.board()
    await ranked(world, 1e-3)
    ask, ada = world.services.authors, world.ada.user
    before = await ask.named(None, "ADA")
    await world.services.users.rename(world.admin.user, ada.id, "../%2F ' \u05e9\u05dc\u05d5\u05dd")
    assert [ada.id] * 2 == [before, await ask.named(None, "../%2f ' \u05e9\u05dc\u05d5\u05dd")]
