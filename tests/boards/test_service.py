import asyncio
import re
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial

import psycopg
import pytest

from kernelbot.accounts.model import Role
from kernelbot.boards.model import Visibility
from kernelbot.boards.service import BoardEdit, Boards, offered_device, sees_board
from kernelbot.domain.errors import (
    Conflict,
    DeviceNotOffered,
    InvalidProblem,
    NotAllowed,
    NotFound,
    UserError,
)
from kernelbot.protocol import HarnessKind, Lang
from tests.catalog.test_single_reference import OLDER
from tests.support.postgres import WAITS_FOR_A_LOCK, until_there_is
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


CUDA = replace(sort_problem("cuda"), spec=replace(sort_problem("cuda").spec, lang=Lang.CU))


@pytest.mark.parametrize(
    ("devices", "named", "said", "hint"),
    [
        ((), ("CPU",), "A board needs at least one device.", "Configured devices: CPU, H100."),
        (
            ("CPU", "B200"),
            ("CPU",),
            "There is no device named 'B200' here.",
            "Configured devices: CPU, H100.",
        ),
        (
            None,
            ("B200", "T4"),
            "None of the problem's devices (B200, T4) is configured here.",
            "Name some of: CPU, H100.",
        ),
        (
            None,
            (),
            "None of the problem's devices (none) is configured here.",
            "Name some of: CPU, H100.",
        ),
    ],
)
async def test_what_is_said_of_devices_that_are_not_here(
    world: World,
    devices: tuple[str, ...] | None,
    named: tuple[str, ...],
    said: str,
    hint: str,
) -> None:
    with pytest.raises(UserError) as refused:
        await world.services.boards.create(
            world.admin.user, sort_problem(devices=named), name="x", devices=devices
        )
    assert (said, hint) == (str(refused.value), refused.value.hint)


async def test_without_any_device_no_board_is_made(world: World) -> None:
    boards = Boards(world.database, ())
    with pytest.raises(UserError) as refused:
        await boards.create(world.admin.user, sort_problem(), name="x")
    assert "Name some of: none." == refused.value.hint
    with pytest.raises(UserError, match=r"^No device here can judge this problem\.$"):
        boards.devices_for(CUDA)


async def test_a_problem_is_for_the_devices_that_run_its_language(world: World) -> None:
    devices_for = world.services.boards.devices_for
    assert (("CPU", "H100"), ("H100",)) == (devices_for(sort_problem()), devices_for(CUDA))


async def test_a_problem_that_is_too_large_makes_no_board(world: World) -> None:
    with pytest.raises(InvalidProblem, match="description: larger than 256 KiB"):
        await world.services.boards.create(
            world.admin.user, replace(sort_problem(), description="x" * (257 << 10)), name="x"
        )


@pytest.mark.parametrize(
    ("who", "name", "error", "said"),
    [
        ("ada", "x", NotAllowed, "Only creators and admins open boards."),
        ("admin", "a b", UserError, "A board's name has 1 to 64 of A-Z a-z 0-9 _ . - and begins"),
        ("admin", "SORT", Conflict, "There is already a board named 'SORT'."),
    ],
)
async def test_a_reference_is_looked_at_only_for_a_board_that_can_be(
    world: World, who: str, name: str, error: type[Exception], said: str
) -> None:
    await world.board("sort")
    with pytest.raises(error, match=f"^{re.escape(said)}"):
        await world.services.boards.check_reference(
            getattr(world, who).user, name, "reference.py", OLDER.encode()
        )


async def test_a_reference_in_python_is_for_any_device_that_there_is(world: World) -> None:
    create = partial(
        world.services.boards.create_from_reference,
        world.admin.user,
        file_name="reference.py",
        content=OLDER.encode(),
        deadline=datetime(2100, 1, 1, tzinfo=UTC),
    )
    board = await create(name="x", devices=("cpu",))
    assert (("CPU",), "x") == (board.devices, board.name)
    with pytest.raises(UserError, match=r"^There is no device named 'B200' here\.$"):
        await create(name="y", devices=("B200",))


async def test_people_list_the_boards_that_they_organise(world: World) -> None:
    carl = (await world.services.users.create("carl", Role.CREATOR)).user
    await world.board("sort")
    await world.services.boards.create(carl, sort_problem(), name="own", devices=("CPU",))
    organised = world.services.boards.organised
    assert [["own"], ["own", "sort"]] == [
        [board.name for board in await organised(who)] for who in (carl, world.admin.user)
    ]
    with pytest.raises(NotAllowed, match=r"^Only creators and admins open boards\.$"):
        await organised(world.ada.user)


async def test_of_two_who_edit_a_board_at_once_neither_undoes_what_the_other_does(
    world: World,
) -> None:
    await world.board("sort")
    with psycopg.connect(world.database.url) as other:
        other.execute("UPDATE leaderboards SET reveal_code = true WHERE name = 'sort'")
        closed = BoardEdit(visibility=Visibility.CLOSED)
        editing = asyncio.create_task(world.services.boards.edit(world.admin.user, "sort", closed))
        async with world.database.read() as session:
            await until_there_is(session, WAITS_FOR_A_LOCK)
    edited = await editing
    assert (Visibility.CLOSED, True) == (edited.visibility, edited.reveal_code)
    assert edited == await world.services.boards.get(world.admin.user, "sort")


@pytest.mark.parametrize(
    ("harness", "taken"), [(HarnessKind.NATIVE, True), (HarnessKind.SCRIPT, False)]
)
async def test_a_board_with_a_script_takes_no_tests_on_other_devices(
    world: World, harness: HarnessKind, taken: bool
) -> None:
    problem = replace(sort_problem(), spec=replace(sort_problem().spec, harness=harness))
    await world.services.boards.create(world.admin.user, problem, name="x", devices=("H100",))
    edit = partial(world.services.boards.edit, world.admin.user, "x")
    if taken:
        assert ("CPU",) == world.services.boards.tried_on(await edit(BoardEdit(try_on_cpu=True)))
    else:
        with pytest.raises(
            UserError, match=r"^The problem of 'x' is judged by a script of its own"
        ):
            await edit(BoardEdit(try_on_cpu=True))
    assert () == world.services.boards.tried_on(await edit(BoardEdit(try_on_cpu=False)))


async def test_a_device_is_found_in_any_case_and_is_the_first_if_none_is_named(
    world: World,
) -> None:
    board = await world.board("sort", ("H100", "CPU"))
    assert ["H100", "CPU"] == [offered_device(board, device) for device in (None, "cpu")]
    with pytest.raises(DeviceNotOffered, match=r"^Board 'sort' doesn't offer 'T4'\.$") as refused:
        offered_device(board, "T4")
    assert "It offers: H100, CPU." == refused.value.hint


async def test_a_deadline_that_is_taken_away_is_shown_as_none_in_the_log(world: World) -> None:
    await world.board("sort")
    for deadline in (datetime(2031, 2, 3, tzinfo=UTC), None):
        await world.services.boards.edit(world.admin.user, "sort", BoardEdit(deadline=deadline))
    entries = await world.services.audit.list_entries(world.admin.user, action="board.edit")
    assert ["2031-02-03 00:00 UTC -> none", "none -> 2031-02-03 00:00 UTC"] == [
        entry.detail["deadline"] for entry in entries
    ]
