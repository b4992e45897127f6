"""What has happened on boards of late."""

import pytest

from kernelbot.ranking import activity
from kernelbot.ranking.activity import Activity
from tests.support.ranked import ranked
from tests.support.world import World


async def test_submissions_of_the_last_day_are_counted_by_board(world: World) -> None:
    boards = [await world.board(name) for name in ("sort", "other", "quiet")]
    for name in ("sort", "other", "sort"):
        await world.submit(board=name, content=f"# {name}\n".encode())
    async with world.database.write() as session:
        await session.do(
            "UPDATE submissions SET created_at = now() - interval '25 hours' WHERE id = 1"
        )
    found = await world.services.activity.recent(boards)
    assert ({boards[0].id: 1, boards[1].id: 1}, False) == (found.submissions, found.has_more)


async def test_boards_that_are_not_listed_are_not_told_of(world: World) -> None:
    listed = await world.board("sort")
    await world.board("other")
    for name in ("sort", "other"):
        await ranked(world, 1e-3, board=name)
    found = await world.services.activity.recent([listed])
    assert ({listed.id: 1}, ["sort"]) == (found.submissions, [one.board for one in found.records])


async def test_the_newest_record_is_the_first(world: World) -> None:
    board = await world.board(devices=("CPU", "H100"))
    await ranked(world, 2e-3, device="CPU")
    await ranked(world, 1e-3, device="H100")
    await ranked(world, 1e-3, device="CPU", author=world.bob.user)
    await ranked(world, 3e-3, device="H100", author=world.bob.user)
    found = (await world.services.activity.recent([board])).records
    assert [("CPU", "bob", 1e-3), ("H100", "ada", 1e-3)] == [
        (one.device, one.score.author, one.score.score_s) for one in found
    ]


async def test_only_the_newest_records_are_told_of(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(activity, "_RECORDS", 1)
    board = await world.board(devices=("CPU", "H100"))
    await ranked(world, 1e-3, device="H100")
    await ranked(world, 2e-3, device="CPU")
    found = (await world.services.activity.recent([board])).records
    assert ["CPU"] == [one.device for one in found]


async def test_without_boards_nothing_has_happened(world: World) -> None:
    found = await world.services.activity.recent([])
    assert ({}, ()) == (found.submissions, found.records)


async def test_no_more_are_counted_than_are_looked_at(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(activity, "_COUNTED", 2)
    board = await world.board()
    for number in range(3):
        await world.submit(content=f"# {number}\n".encode())
    found = await world.services.activity.recent([board])
    assert ({board.id: 2}, True) == (found.submissions, found.has_more)


async def test_submissions_are_counted_again_after_five_seconds(world: World) -> None:
    times_s = [0.0]
    ask = Activity(world.database, clock=lambda: times_s[-1])
    board = await world.board()
    counts = []
    for now_s in (0.0, 4.0, 6.0):
        times_s.append(now_s)
        await world.submit(content=f"# {now_s}\n".encode())
        counts.append((await ask.recent([board])).submissions[board.id])
    assert [1, 1, 3] == counts
