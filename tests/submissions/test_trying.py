"""Tests on a processor of what is for a GPU: who takes them, and what comes of them."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from kernelbot.boards.service import BoardEdit
from kernelbot.domain.errors import DeviceNotOffered, DeviceUnavailable, UserError
from kernelbot.protocol import HarnessKind, Mode
from kernelbot.runs.tries import NOTE
from kernelbot.submissions.model import Submission
from tests.support.problems import sort_problem
from tests.support.waiting import until_told
from tests.support.workers import finished, quick_settings, working
from tests.support.world import World

GPU = b"#!POPCORN gpu H100\n# fake: accepted\n"


@pytest.fixture
async def allowed(world: World) -> World:
    """A board for an H100 that takes tests on a processor."""
    await world.board(devices=("H100",))
    await allow(world)
    return world


@pytest.fixture
async def judged(allowed: World, tmp_path: Path) -> AsyncIterator[World]:
    async with working(quick_settings(tmp_path), allowed.database.url):
        await until_served(allowed)
        yield allowed


async def allow(world: World, *, wanted: bool = True) -> None:
    edit = BoardEdit(try_on_cpu=wanted)
    await world.services.boards.edit(world.admin.user, "sort", edit)


async def until_served(world: World) -> None:
    async def is_served() -> bool:
        return (await world.services.devices.list_devices())[0].available

    await until_told(is_served)


async def attempt(world: World, mode: Mode = Mode.TEST, *devices: str) -> Submission:
    return await world.submit(
        mode=mode, content=b"# fake: accepted 0.5\n", devices=devices or ("cpu",)
    )


async def test_a_test_is_judged_on_the_processor_and_its_report_says_no_speed(
    judged: World,
) -> None:
    sent = await attempt(judged)
    (run,) = (await finished(judged, sent.id)).runs
    assert run.result is not None
    assert ("CPU", "accepted", NOTE, None) == (
        run.device,
        run.verdict,
        run.result.system.notes[0],
        run.score_s,
    )
    assert NOTE.startswith("On an emulator: no speed.")


async def test_nothing_of_it_is_ranked_or_listed_among_the_boards_devices(judged: World) -> None:
    sent = await attempt(judged)
    await finished(judged, sent.id)
    board = await judged.services.boards.get(judged.ada.user, "sort")
    page = await judged.services.standings.page(judged.ada.user, "sort", None)
    listed = await judged.services.submission_lists.own(judged.ada.user)
    assert (("H100",), "H100", 0, None) == (
        board.devices,
        page.device,
        page.total,
        listed[0].place,
    )
    with pytest.raises(DeviceNotOffered):
        await judged.services.standings.page(judged.ada.user, "sort", "CPU")


async def test_a_test_that_is_the_boards_own_says_nothing_of_an_emulator(
    world: World, tmp_path: Path
) -> None:
    await world.board()
    await allow(world)
    async with working(quick_settings(tmp_path), world.database.url):
        sent = await attempt(world)
        (run,) = (await finished(world, sent.id)).runs
    assert run.result is not None
    assert NOTE not in run.result.system.notes


@pytest.mark.parametrize("mode", [mode for mode in Mode if mode is not Mode.TEST])
async def test_no_other_mode_is_taken(judged: World, mode: Mode) -> None:
    with pytest.raises(DeviceNotOffered, match="takes tests alone"):
        await attempt(judged, mode)


async def test_a_board_that_does_not_allow_it_takes_none(world: World) -> None:
    await world.board(devices=("H100",))
    with pytest.raises(DeviceNotOffered, match="doesn't offer 'cpu'"):
        await attempt(world)
    await allow(world)
    await allow(world, wanted=False)
    with pytest.raises(DeviceNotOffered, match="doesn't offer 'cpu'"):
        await attempt(world)


async def test_without_a_worker_that_has_one_a_sentence_says_so(allowed: World) -> None:
    with pytest.raises(DeviceUnavailable, match="Nothing can be tried on CPU just now"):
        await attempt(allowed)
    assert [] == await allowed.services.submission_lists.own(allowed.ada.user)


async def test_a_board_that_offers_the_processor_takes_every_mode_there(world: World) -> None:
    await world.board(devices=("CPU", "H100"))
    await allow(world)
    sent = await attempt(world, Mode.BENCHMARK)
    assert ["CPU"] == [run.device for run in sent.runs]


async def test_who_names_no_device_gets_the_boards(allowed: World) -> None:
    sent = await allowed.submit(mode=Mode.TEST, content=GPU)
    assert ["H100"] == [run.device for run in sent.runs]


async def test_it_stays_one_though_the_board_takes_no_more(judged: World, tmp_path: Path) -> None:
    go_on = tmp_path / "go-on"
    sent = await attempt_until(judged, go_on, "CPU")
    await allow(judged, wanted=False)
    go_on.touch()
    (run,) = (await finished(judged, sent.id)).runs
    assert run.result is not None
    assert NOTE == run.result.system.notes[0]


async def attempt_until(world: World, file: Path, device: str) -> Submission:
    """A test that is accepted once the file exists."""
    content = f"# fake: until {file} accepted\n".encode()
    return await world.submit(mode=Mode.TEST, content=content, devices=(device,))


async def test_both_at_once(judged: World) -> None:
    sent = await attempt(judged, Mode.TEST, "CPU", "H100", "cpu")
    assert ["CPU", "H100"] == sorted(run.device for run in sent.runs)


async def test_a_problem_with_a_script_of_its_own_is_not_tried(world: World) -> None:
    sort = sort_problem()
    script = replace(sort, spec=replace(sort.spec, harness=HarnessKind.SCRIPT))
    await world.services.boards.create(world.admin.user, script, name="sort", devices=("H100",))
    with pytest.raises(UserError, match="judged by a script of its own"):
        await allow(world)


async def test_a_board_says_so_no_more_once_its_problem_has_one(world: World) -> None:
    await world.board(devices=("H100",))
    await allow(world)
    sort = sort_problem()
    script = replace(sort, spec=replace(sort.spec, harness=HarnessKind.SCRIPT))
    await world.change_problem(script)
    board = await world.services.boards.get(world.ada.user, "sort")
    assert (False, ()) == (board.try_on_cpu, world.services.boards.tried_on(board))
    with pytest.raises(DeviceNotOffered):
        await attempt(world)


async def test_the_processors_are_those_that_the_board_does_not_offer(world: World) -> None:
    for name, devices in (("gpu", ("H100",)), ("both", ("CPU", "H100"))):
        await world.board(name, devices)
        edit = BoardEdit(try_on_cpu=True)
        await world.services.boards.edit(world.admin.user, name, edit)
    found = [
        world.services.boards.tried_on(await world.services.boards.get(world.ada.user, name))
        for name in ("gpu", "both")
    ]
    assert [("CPU",), ()] == found


async def test_a_problem_for_several_gpus_is_tried_as_well(world: World, tmp_path: Path) -> None:
    sort = sort_problem("sort")
    cases = tuple(replace(case, args={**case.args, "world_size": 2}) for case in sort.spec.tests)
    spec = replace(sort.spec, multi_gpu=True, tests=cases, benchmarks=cases)
    await world.services.boards.create(
        world.admin.user, replace(sort, spec=spec), name="sort", devices=("H100",)
    )
    await allow(world)
    async with working(quick_settings(tmp_path), world.database.url):
        await until_served(world)
        sent = await attempt(world)
        (run,) = (await finished(world, sent.id)).runs
    assert ("CPU", "accepted") == (run.device, run.verdict)
