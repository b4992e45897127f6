from pathlib import Path

import psycopg
import pytest

from kernelbot.domain.errors import NotAllowed, NotFound
from tests.support.workers import finished, quick_settings, working
from tests.support.world import World


async def test_runs_passes_and_refusals_are_counted(world: World, tmp_path: Path) -> None:
    await world.board()
    async with working(quick_settings(tmp_path), world.database.url):
        for code in (b"# fake: accepted 1 1 1\n", b"# fake: wrong_answer\n"):
            await finished(world, (await world.submit(content=code)).id)
    found = await world.services.statistics.show(world.admin.user)
    device = found.devices[0]
    assert (1, 2, 1, 3, 2) == (
        found.boards,
        found.submissions,
        found.authors,
        found.runs,
        found.passes,
    )
    assert ("CPU", 3, 2, 1, 0, 0, 0) == (
        device.device,
        device.runs,
        device.passes,
        device.failures,
        device.errors,
        device.waiting,
        device.running,
    )
    assert (device.wait_median_s or 0) > 0 < (device.run_median_s or 0)


async def test_what_waits_has_no_times(world: World) -> None:
    await world.board()
    await world.submit()
    found = await world.services.statistics.show(world.admin.user, board="SORT")
    device = found.devices[0]
    assert (2, None, None, 0.0) == (
        device.waiting,
        device.wait_median_s,
        device.run_median_s,
        device.run_total_s,
    )


async def test_of_one_board_and_of_the_last_day(world: World) -> None:
    await world.board("sort")
    await world.board("other")
    old = await world.submit(board="sort")
    await world.submit(board="other")
    with psycopg.connect(world.database.url) as connection:
        connection.execute(
            "UPDATE submissions SET created_at = now() - interval '2 days' WHERE id = %s", (old.id,)
        )
    show = world.services.statistics.show
    admin = world.admin.user
    counts = [
        (await show(admin)).submissions,
        (await show(admin, last_day=True)).submissions,
        (await show(admin, board="sort")).submissions,
        (await show(admin, board="sort", last_day=True)).submissions,
    ]
    assert [2, 1, 1, 0] == counts


async def test_older_numbers_are_those_that_were_counted_last(world: World) -> None:
    await world.board()
    show, admin = world.services.statistics.show, world.admin.user
    before = await show(admin, board="sort")
    await world.submit()
    old = await show(admin, board="SORT", max_age_s=60)
    everything = await show(admin, max_age_s=60)
    new = await show(admin, board="sort")
    assert (0, 0, 1, 1) == tuple(one.submissions for one in (before, old, everything, new))


async def test_runs_that_failed_or_wait_are_counted_apart(world: World) -> None:
    await world.board(devices=("CPU", "H100"))
    for _ in range(3):
        await world.submit(devices=("H100", "CPU"))
    ends = {
        1: "state = 'finished', verdict = 'internal_error', fault = 'platform'",
        2: "state = 'finished', verdict = 'internal_error', fault = 'scheduler'",
        3: "state = 'finished', verdict = 'wrong_answer', fault = 'author'",
        4: "state = 'cancelled'",
        5: "state = 'dispatched'",
    }
    with psycopg.connect(world.database.url) as connection:
        runs = "(SELECT id FROM runs WHERE device = 'H100' ORDER BY id OFFSET %s LIMIT 1)"
        for number, end in ends.items():
            if number < 5:
                end += ", finished_at = now() + interval '2 s', started_at = now()"
            dispatched = "UPDATE runs SET state = 'dispatched' WHERE id = "
            connection.execute(dispatched + runs, (number,))
            connection.execute(f"UPDATE runs SET {end} WHERE id = {runs}", (number,))
    cpu, h100 = (await world.services.statistics.show(world.admin.user)).devices
    assert (("CPU", 6, 6), ("H100", 6, 1)) == tuple(
        (one.device, one.runs, one.waiting) for one in (cpu, h100)
    )
    assert (0, 1, 2, 1, 6.0) == (
        h100.passes,
        h100.failures,
        h100.errors,
        h100.running,
        h100.run_total_s,
    )


async def test_only_organisers_see_them(world: World) -> None:
    await world.board()
    for board in (None, "sort"):
        with pytest.raises(NotAllowed):
            await world.services.statistics.show(world.ada.user, board=board)
    with pytest.raises(NotFound):
        await world.services.statistics.show(world.admin.user, board="none")
