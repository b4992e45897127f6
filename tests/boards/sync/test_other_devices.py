"""A sync that changes a board's devices and nothing that is judged: the rankings of those that stay
aren't touched, also if the hashes in the database are those of the release before."""

import random
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest

from kernelbot.boards import store as boards
from kernelbot.boards.problem_hashes import problem_hashes
from kernelbot.boards.sync.model import SyncOptions
from kernelbot.store.migrate import check_schema, migrate
from kernelbot.submissions.model import Submission
from tests.boards.sync.offering import offer
from tests.support.duels import FASTER, two_of_ada
from tests.support.former_hashes import make_former, with_devices
from tests.support.judging import fought
from tests.support.problem_sets import write_competition, write_problem
from tests.support.problems import sort_problem
from tests.support.ranked import judged, ranked, rejudged
from tests.support.world import World

pytestmark = pytest.mark.each_run(
    "test_whatever_becomes_of_other_devices_a_ranking_stays",
    "test_a_migration_gives_back_what_the_release_before_had_put_aside",
    "test_what_the_release_before_writes_beside_this_one_is_compared_by_the_new_rule",
    "test_another_test_case_with_another_device_starts_the_ranking_anew",
)

Rows = list[tuple[str, float]]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The problem `sort`, and a competition over it."""
    write_problem(tmp_path, "sort")
    write_competition(tmp_path, "sort")
    return tmp_path


async def sync(world: World, root: Path, *devices: str) -> str:
    """The board has these devices from now on; what the sync says of it."""
    write_competition(root, "sort", gpus=f"[{', '.join(devices)}]")
    outcome = await world.services.sync.from_folder(world.admin.user, root, SyncOptions(force=True))
    (item,) = outcome.items
    return item.reason


async def rows(world: World, device: str = "CPU") -> Rows:
    page = await world.services.standings.page(None, "sort", device)
    return [(row.author, row.score_s) for row in page.standings]


async def outdated(world: World) -> int:
    return (await world.services.boards.get(None, "sort")).outdated_scores


async def both_rank(world: World, root: Path) -> dict[str, Rows]:
    """A board with two devices, and its rankings."""
    await sync(world, root, "CPU", "H100")
    await ranked(world, 1.0)
    await ranked(world, 2.0, author=world.bob.user)
    await ranked(world, 3.0, device="H100")
    return {device: await rows(world, device) for device in ("CPU", "H100")}


async def test_whatever_becomes_of_other_devices_a_ranking_stays(world: World, root: Path) -> None:
    """Added, removed, put into another order or spelt otherwise, in any order of events."""
    expected = await both_rank(world, root)
    before = await world.services.boards.get(None, "sort")
    lists = [["CPU"], ["H100", "CPU"], ["CPU", "T4"], ["cpu"], ["H100"], ["CPU", "H100"]]
    drawn = random.Random(7)
    for devices in [*lists, *(drawn.choice(lists) for _ in range(6)), lists[-1]]:
        await sync(world, root, *devices)
        offered = (await world.services.boards.get(None, "sort")).devices
        found = {device: await rows(world, device) for device in offered}
        assert ({device: expected[device] for device in offered}, 0) == (
            found,
            await outdated(world),
        )
    assert before.problem_version_id == (
        (await world.services.boards.get(None, "sort")).problem_version_id
    )
    assert "unchanged" == await sync(world, root, "CPU", "H100")


async def test_another_test_case_with_another_device_starts_the_ranking_anew(
    world: World, root: Path
) -> None:
    await sync(world, root, "CPU")
    await ranked(world, 1.0)
    write_problem(root, "sort", size=11)
    said = await sync(world, root, "CPU", "H100")
    assert ([], 1) == (await rows(world), await outdated(world))
    assert (
        "a new version of the problem (1 score leaves the ranking; to measure the best again on it,"
        " afterwards: kernelbot board rejudge sort --device CPU), devices: CPU, H100"
    ) == said


async def test_a_submission_that_waits_meanwhile_is_ranked(world: World, root: Path) -> None:
    await sync(world, root, "CPU")
    sent = await world.submit(content=b"# waits")
    await sync(world, root, "CPU", "H100")
    await judged(world, sent.id, 1.0)
    assert ([("ada", 1.0)], None) == (await rows(world), (await _shown(world, sent)).not_ranked)


async def _shown(world: World, sent: Submission) -> Submission:
    return await world.services.submissions.get(world.ada.user, sent.id)


async def test_what_a_rejudge_found_stands(world: World, root: Path) -> None:
    await sync(world, root, "CPU")
    number = await ranked(world, 1.0)
    await rejudged(world, {number: 1.5})
    await sync(world, root, "CPU", "H100")
    assert [("ada", 1.5)] == await rows(world)


async def test_who_won_a_duel_stands(world: World) -> None:
    await two_of_ada(world)
    await fought(world, FASTER)
    before = await rows(world)
    await world.change_problem(sort_problem(devices=("CPU", "H100")))
    await offer(world, "CPU", "H100")
    assert [("ada", 0.95)] == before == await rows(world)


async def test_code_that_was_withdrawn_is_not_ranked_again(world: World, root: Path) -> None:
    await sync(world, root, "CPU")
    number = await ranked(world, 1.0)
    await world.services.deletion.delete_submission(world.ada.user, number)
    await sync(world, root, "CPU", "H100")
    await ranked(world, 1.0)
    assert [] == await rows(world)


async def test_a_migration_gives_back_what_the_release_before_had_put_aside(
    world: World, root: Path
) -> None:
    """There a device more started the ranking anew. An unchanged problem doesn't here."""
    await sync(world, root, "CPU")
    await ranked(world, 1.0)
    await sync(world, root, "CPU", "H100")
    await ranked(world, 2.0, author=world.bob.user)
    url = world.database.url
    make_former(url)
    former = (await rows(world), await outdated(world))
    assert "0029.judged_without_devices" == migrate(url)[0]
    check_schema(url)
    both = [("ada", 1.0), ("bob", 2.0)]
    assert (([("bob", 2.0)], 1), (both, 0)) == (former, (await rows(world), await outdated(world)))
    assert "unchanged" == await sync(world, root, "CPU", "H100")
    await sync(world, root, "CPU")
    assert both == await rows(world)


async def test_a_migration_keeps_the_first_of_what_was_withdrawn_twice(
    world: World, root: Path
) -> None:
    """The release before let it be ranked again after the change, and then it was deleted again."""
    await sync(world, root, "CPU")
    first = await ranked(world, 1.0)
    await world.services.deletion.delete_submission(world.ada.user, first)
    await sync(world, root, "CPU", "H100")
    make_former(world.database.url)
    second = await ranked(world, 1.0)
    former = await rows(world)
    await world.services.deletion.delete_submission(world.ada.user, second)
    migrate(world.database.url)
    with psycopg.connect(world.database.url) as connection:
        kept = connection.execute("SELECT submission_id, score_s FROM withdrawn_sources").fetchall()
    await ranked(world, 1.0)
    assert ([("ada", 1.0)], [(first, 1.0)], []) == (former, kept, await rows(world))


async def test_what_the_release_before_writes_beside_this_one_is_compared_by_the_new_rule(
    world: World, root: Path
) -> None:
    """Its server syncs a device more, and then this one's the same."""
    await sync(world, root, "CPU")
    await ranked(world, 1.0)
    board = await world.services.boards.get(None, "sort")
    async with world.database.write() as session:
        here = await boards.definition(session, board.problem_version_id)
        more = replace(here, devices=("CPU", "H100"))
        version = await boards.add_version(
            session, more, problem_hashes(more).content, with_devices(more)
        )
        await session.do("UPDATE leaderboards SET problem_version_id = %(id)s", {"id": version})
        await session.do(
            "INSERT INTO leaderboard_devices (leaderboard_id, device, position)"
            " VALUES (%(id)s, 'H100', 1)",
            {"id": board.id},
        )
        await session.one("SELECT rebuild_board_standings(%(id)s)", {"id": board.id})
    assert ([("ada", 1.0)], 0) == (await rows(world), await outdated(world))
    assert "unchanged" == await sync(world, root, "CPU", "H100")
    assert version == (await world.services.boards.get(None, "sort")).problem_version_id
