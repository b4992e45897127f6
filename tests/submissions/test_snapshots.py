"""A submission as somebody finds it, with its place in the queue."""

import asyncio
from typing import LiteralString

import pytest

from kernelbot.protocol import Mode
from tests.support.world import World


async def test_it_has_the_place_that_is_asked_for_alone(world: World) -> None:
    await world.board()
    await world.submit(mode=Mode.TEST, content=b"# the first\n")
    sent = await world.submit(mode=Mode.TEST)
    ask = world.services.submissions
    found, place = await asyncio.gather(
        ask.snapshot(world.ada.user, sent.id), ask.queue_position(sent.id)
    )
    assert place is not None
    assert (place, 2) == (found.queue, place.position)


async def test_it_has_no_place_once_nothing_waits(world: World) -> None:
    await world.board()
    sent = await world.submit(mode=Mode.TEST)
    await world.services.submissions.cancel(world.ada.user, sent.id)
    found = await world.services.submissions.snapshot(world.ada.user, sent.id)
    assert found.queue is None


async def test_its_place_says_that_no_worker_is_there(world: World) -> None:
    await world.board()
    sent = await world.submit(mode=Mode.TEST)
    found = await world.services.submissions.snapshot(world.ada.user, sent.id)
    assert found.queue is not None
    assert "no worker serves it just now" == found.queue.note


async def test_its_place_says_what_keeps_a_worker_from_the_device(world: World) -> None:
    await world.board()
    async with world.database.write() as session:
        await session.do("INSERT INTO workers (owner, node) VALUES ('w', 'n'), ('dead', 'n')")
        await session.do("UPDATE workers SET heartbeat_at = '2000-01-01' WHERE owner = 'dead'")
        await session.do(
            "INSERT INTO worker_devices (owner, device, available, note)"
            " VALUES ('w', 'CPU', false, 'its host ended'), ('w', 'H100', false, 'no GPU'),"
            " ('dead', 'CPU', true, '')"
        )
    sent = await world.submit(mode=Mode.TEST)
    found = await world.services.submissions.snapshot(world.ada.user, sent.id)
    assert found.queue is not None
    assert "its host ended" == found.queue.note


@pytest.mark.parametrize(
    "change",
    [
        "attempts = 0",
        "state = 'dispatched', attempts = 1, started_at = now()",
        "state = 'finished', verdict = 'accepted', score_s = 1, finished_at = now()",
        "state = 'finished', verdict = 'accepted', finished_at = now(), shared_seed = true",
        "state = 'finished', verdict = 'time_limit', fault = 'author', finished_at = now()",
        "state = 'cancelled', message = 'no', finished_at = now()",
    ],
)
@pytest.mark.parametrize("mode", [Mode.TEST, Mode.BENCHMARK])
async def test_what_no_ranking_has_is_found_without_looking_into_one(
    world: World, mode: Mode, change: LiteralString
) -> None:
    await world.board(devices=("CPU", "H100"))
    sent = await world.submit(mode=mode, devices=("CPU", "H100"))
    async with world.database.write() as session:
        await session.do(f"UPDATE runs SET {change}")
        values = {"id": sent.id}
        whole = "SELECT * FROM submission_snapshots WHERE id = %(id)s ORDER BY device, secret"
        found = await session.all("SELECT * FROM submission_snapshot(%(id)s)", values)
        assert await session.all(whole, values) == found
        assert 2 == len(found)


_TABLES: LiteralString = """
WITH RECURSIVE reads AS (
    SELECT %(view)s::regclass::oid AS id
    UNION
    SELECT d.refobjid FROM reads
    JOIN pg_rewrite r ON r.ev_class = reads.id
    JOIN pg_depend d ON d.objid = r.oid AND d.classid = 'pg_rewrite'::regclass
        AND d.refclassid = 'pg_class'::regclass
)
SELECT DISTINCT c.relname FROM reads JOIN pg_class c ON c.oid = reads.id WHERE c.relkind = 'r'
"""
_DECIDES = {
    "duels": "whatever ends one decides again which runs count (`decisions`)",
    "withdrawn_sources": "as above",
    "standings": "each change is a version of the board's device",
    "rejudges": "`rare_stamp` has them",
    "problem_versions": "never change; which one is the board's or a rejudge's, their rows say",
}
"""Tables that a submission shows something of, and why their rows aren't in its stamp."""


async def test_a_stamp_is_of_all_tables_that_a_submission_shows(world: World) -> None:
    async with world.database.read() as session:
        shown, stamped = [
            {row["relname"] for row in await session.all(_TABLES, {"view": view})}
            for view in ("submission_snapshots", "submission_stamps")
        ]
    assert _DECIDES.keys() == shown - stamped


@pytest.mark.parametrize(
    "change",
    [
        (
            "INSERT INTO preflights (submission_id, device, report)"
            " SELECT id, 'CPU', '{}' FROM submissions"
        ),
        "UPDATE rejudges SET finished_at = now()",
        "UPDATE users SET name = 'lovelace' WHERE name = 'ada'",
        "UPDATE leaderboards SET deadline = now()",
        "UPDATE leaderboard_devices SET version = version + 1",
        "UPDATE runs SET attempts = 3 WHERE rejudge_id IS NOT NULL",
        "INSERT INTO decisions SELECT author_id, leaderboard_id, 'CPU', 1 FROM submissions",
    ],
)
async def test_a_stamp_changes_with_each_row_and_never_comes_back(
    world: World, change: LiteralString
) -> None:
    await world.board()
    sent = await world.submit()
    asked: LiteralString = "SELECT stamp FROM submission_stamps WHERE id = %(id)s"
    async with world.database.autocommit() as session:
        await session.do(
            "WITH again AS (INSERT INTO rejudges (leaderboard_id, device, problem_version_id)"
            " SELECT leaderboard_id, 'CPU', problem_version_id FROM submissions RETURNING id)"
            " INSERT INTO runs (submission_id, device, secret, author_id, priority, rejudge_id)"
            " SELECT s.id, 'CPU', true, s.author_id, 0, again.id FROM submissions s, again"
        )
        stamps = []
        for statement in ("SELECT 1", "SELECT 1", change):
            await session.do(statement)
            stamps.append(await session.one(asked, {"id": sent.id}))
    assert (stamps[0], True) == (stamps[1], stamps[1] != stamps[2])


async def test_a_look_says_whose_it_is_and_of_when(world: World) -> None:
    await world.board()
    sent = await world.submit(world.bob.user, mode=Mode.TEST)
    ask = world.services.submissions
    snapshot = await ask.snapshot(world.bob.user, sent.id, stamped=True)
    found = await ask.look(world.bob.token, sent.id)
    assert found is not None
    assert snapshot.stamp is not None
    assert (world.bob.user.id, snapshot.stamp) == (found.owner_id, found.stamp)
