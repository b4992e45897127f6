"""Clients that count pages: offsets and totals."""

import pytest

from kernelbot.domain.errors import NotAllowed
from tests.support.world import World


async def test_offset_passes_over_the_newest(world: World) -> None:
    await world.board()
    first, second, third = [(await world.submit()).id for _ in range(3)]
    found = await world.services.submission_lists.own(world.ada.user, limit=2, offset=1)
    assert [second, first] == [submission.id for submission in found]
    assert third not in [submission.id for submission in found]


async def test_a_list_of_one_board_continues_before_an_id(world: World) -> None:
    await world.board()
    await world.board("other")
    first, second, third = [(await world.submit()).id for _ in range(3)]
    await world.submit(board="other")
    lists, ada = world.services.submission_lists, world.ada.user
    newest = await lists.own(ada, board="SORT", limit=2)
    rest = await lists.own(ada, board="SORT", limit=2, before_id=second)
    passed_over = await lists.own(ada, board="SORT", offset=2)
    assert [[third, second], [first], [first]] == [
        [submission.id for submission in page] for page in (newest, rest, passed_over)
    ]


async def test_a_submission_names_its_board_by_id_as_well(world: World) -> None:
    board = await world.board()
    assert board.id == (await world.submit()).board_id


async def test_nobody_is_ranked_before_a_verdict(world: World) -> None:
    await world.board()
    await world.submit()
    assert 0 == await world.services.standings.count(None, "sort", "cpu")


async def test_what_does_not_count_is_not_counted(world: World) -> None:
    await world.board()
    await world.submit()
    count = await world.services.standings.count(None, "sort", "CPU", author_id=world.ada.user.id)
    assert 0 == count


async def test_organisers_list_everybody_s_on_a_board(world: World) -> None:
    await world.board()
    await world.board("other")
    ada_s = await world.submit()
    bob_s = await world.submit(world.bob.user)
    await world.submit(board="other")
    found = await world.services.submission_lists.page_of_others(world.admin.user, board="SORT")
    assert [bob_s.id, ada_s.id] == [one.id for one in found]


async def test_admins_list_a_person_s_on_all_boards(world: World) -> None:
    await world.board()
    await world.submit()
    bob_s = await world.submit(world.bob.user)
    found = await world.services.submission_lists.page_of_others(world.admin.user, user="BOB")
    assert [bob_s.id] == [one.id for one in found]


@pytest.mark.parametrize("wanted", [{"board": "sort"}, {"user": "ada"}])
async def test_competitors_list_nobody_else_s(world: World, wanted: dict[str, str]) -> None:
    await world.board()
    with pytest.raises(NotAllowed):
        await world.services.submission_lists.page_of_others(world.bob.user, **wanted)  # type: ignore[arg-type]  # names of its arguments


async def test_admins_list_everybody_s_on_all_boards(world: World) -> None:
    await world.board()
    await world.board("other")
    sent = [(await world.submit(board=board)).id for board in ("sort", "other")]
    found = await world.services.submission_lists.page_of_others(world.admin.user)
    assert sent[::-1] == [one.id for one in found]
