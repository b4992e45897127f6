from datetime import datetime

import pytest

from kernelbot.boards.model import Visibility
from kernelbot.boards.service import BoardEdit, sees_board
from kernelbot.domain.errors import Conflict, InvalidProblem, NotAllowed, NotFound, UserError
from tests.support.problems import REFERENCE, sort_problem
from tests.support.world import World


async def test_a_board_is_found_in_any_case_of_letters(world: World) -> None:
    board = await world.board("Sort")
    assert await world.services.boards.get(None, "sORT") == board


async def test_a_board_by_invite_is_there_for_its_organisers_and_who_was_invited(
    world: World,
) -> None:
    board = await world.board("sort")
    closed = BoardEdit(visibility=Visibility.CLOSED)
    await world.services.boards.edit(world.admin.user, board.name, closed)
    made = await world.services.invites.create(world.admin.user, ("sort",))
    await world.services.invites.join(world.bob.user, made.codes[0])
    viewers = (None, world.ada.user, world.bob.user, world.admin.user)
    async with world.database.read() as session:
        found = [await sees_board(session, viewer, "sort") for viewer in viewers]
        unknown = await sees_board(session, world.admin.user, "none")
    assert ([False, False, True, True], False) == (found, unknown)


async def test_a_taken_name_is_a_conflict(world: World) -> None:
    await world.board("sort")
    with pytest.raises(Conflict, match="already a board named 'SORT'"):
        await world.board("SORT")


async def test_competitors_open_no_boards(world: World) -> None:
    with pytest.raises(NotAllowed):
        await world.services.boards.create(world.ada.user, sort_problem(), name="mine")


@pytest.mark.parametrize("name", ["", "a b", "../x", "a/b", "ü", "x" * 65, "a\x00", "-a"])
async def test_unusable_names_are_refused(world: World, name: str) -> None:
    with pytest.raises(UserError, match="A board's name has 1 to 64"):
        await world.services.boards.create(world.admin.user, sort_problem(), name=name)


async def test_a_reference_whose_problem_is_too_large_is_refused_before_its_devices_are_asked_for(
    world: World,
) -> None:
    found = REFERENCE.replace("size: int, seed: int", "seed: int, size: int = 9")
    reference = f'"""{"x" * (256 << 10)}."""\n{found}'
    with pytest.raises(InvalidProblem, match="description: larger than 256 KiB"):
        await world.services.boards.check_reference(
            world.admin.user, "x", "reference.py", reference.encode()
        )


async def test_devices_default_to_those_configured_here(world: World) -> None:
    problem = sort_problem(devices=("B200", "cpu", "H100"))
    board = await world.services.boards.create(world.admin.user, problem, name="x")
    assert board.devices == ("CPU", "H100")


@pytest.mark.parametrize("devices", [(), ("B200",), ("CPU", "B200")])
async def test_unknown_devices_are_refused(world: World, devices: tuple[str, ...]) -> None:
    with pytest.raises(UserError):
        await world.board(devices=devices)


async def test_a_problem_for_no_device_of_ours_is_refused(world: World) -> None:
    with pytest.raises(UserError, match="B200"):
        await world.services.boards.create(
            world.admin.user, sort_problem(devices=("B200",)), name="x"
        )


async def test_a_deadline_needs_a_time_zone(world: World) -> None:
    with pytest.raises(UserError, match="A deadline needs a time zone"):
        await world.services.boards.create(
            world.admin.user,
            sort_problem(),
            name="x",
            deadline=datetime(2030, 1, 1),  # noqa: DTZ001 RUF100
        )


@pytest.mark.parametrize("text", ["9999-12-31T23:59:00-01:00", "0001-01-01T00:00:00+01:00"])
async def test_a_deadline_is_a_date_in_every_zone(world: World, text: str) -> None:
    await world.board("x")
    edit = BoardEdit(deadline=datetime.fromisoformat(text))
    with pytest.raises(UserError, match="between the years 1970 and 9000"):
        await world.services.boards.edit(world.admin.user, "x", edit)


async def test_closed_boards_do_not_exist_for_strangers(world: World) -> None:
    await world.services.boards.create(
        world.admin.user, sort_problem(), name="x", visibility=Visibility.CLOSED
    )
    for viewer in (None, world.ada.user):
        with pytest.raises(NotFound):
            await world.services.boards.get(viewer, "x")
    assert await world.services.boards.list_boards(world.ada.user) == []
    assert (await world.services.boards.get(world.admin.user, "x")).name == "x"


async def test_the_same_problem_is_one_version(world: World) -> None:
    first, second = await world.board("a"), await world.board("b")
    same = await world.services.boards.create(
        world.admin.user, sort_problem("a"), name="c", devices=("CPU",)
    )
    assert first.problem_version_id == same.problem_version_id != second.problem_version_id


async def test_a_board_shows_its_starter_files(world: World) -> None:
    await world.board()
    problem = await world.services.boards.problem(None, "sort")
    assert (problem.lang, problem.submission_name, problem.templates) == (
        "py",
        "submission.py",
        sort_problem().templates,
    )
