"""Clients that count pages: offsets and totals."""

from tests.support.world import World


async def test_offset_passes_over_the_newest(world: World) -> None:
    await world.board()
    first, second, third = [(await world.submit()).id for _ in range(3)]
    found = await world.services.submissions.list(world.ada.user, limit=2, offset=1)
    assert [second, first] == [submission.id for submission in found]
    assert third not in [submission.id for submission in found]


async def test_a_list_of_one_board_goes_on_before_an_id(world: World) -> None:
    await world.board()
    await world.board("other")
    first, second, third = [(await world.submit()).id for _ in range(3)]
    await world.submit(board="other")
    service, ada = world.services.submissions, world.ada.user
    newest = await service.list(ada, board="SORT", limit=2)
    rest = await service.list(ada, board="SORT", limit=2, before_id=second)
    passed_over = await service.list(ada, board="SORT", offset=2)
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
