"""How long what waits is said to wait."""

from kernelbot.protocol import Mode
from kernelbot.runs.queue.model import QueueRules
from kernelbot.server.wiring import open_services
from tests.support.judging import judging
from tests.support.world import DEVICES, World


async def ended_after(world: World, submission_id: int, took_s: float) -> None:
    """What runs of a submission ends now, after so long."""
    async with world.database.write() as session:
        await session.do(
            "UPDATE runs SET state = 'finished', verdict = 'accepted',"
            " started_at = now() - make_interval(secs => %(took_s)s), finished_at = now()"
            " WHERE submission_id = %(id)s",
            {"id": submission_id, "took_s": took_s},
        )


async def test_the_wait_is_guessed_from_the_pace_of_late(world: World) -> None:
    await world.board()
    done, running, next_one = [(await world.submit(mode=Mode.TEST)).id for _ in range(3)]
    judge = judging(world)
    for _ in range(2):
        await judge.claim("CPU", "w")
    await ended_after(world, done, 6.0)
    await served(world)
    await world.submit(mode=Mode.TEST)
    last = await world.submit(mode=Mode.TEST)
    place = world.services.submissions.queue_position
    found = [await place(one) for one in (running, next_one, last.id)]
    # Two slots, one of them free: the next goes at once, the third waits for two runs of 6 s.
    assert [(p.position, p.wait_s) for p in found if p] == [(1, 0), (3, 6)]


async def test_the_wait_for_timed_runs_is_not_guessed_from_tests(world: World) -> None:
    """Two slots; what is timed is one secret run for each public one, which tests alone."""
    await world.board()
    await served(world)
    await ended(world, Mode.TEST, public_s=1.0)
    place = world.services.submissions.queue_position
    sent = [(await world.submit(mode=Mode.LEADERBOARD)).id for _ in range(3)]
    unknown = await place(sent[-1])
    await ended(world, Mode.LEADERBOARD, public_s=1.0, secret_s=31.0)
    known = await place(sent[-1])
    async with world.database.write() as session:
        await session.do("DELETE FROM runs WHERE state = 'queued'")
    sent = [(await world.submit(mode=Mode.TEST)).id for _ in range(5)]
    tests = await place(sent[-1])
    assert [(5, None), (5, 3 / 2 * 16.0), (5, 3 / 2 * 1.0)] == [
        (one.position, one.wait_s) for one in (unknown, known, tests) if one
    ]


async def served(world: World) -> None:
    """A worker serves the device."""
    async with world.database.write() as session:
        await session.do("INSERT INTO workers (owner, node) VALUES ('w', 'n')")
        await session.do("INSERT INTO worker_devices VALUES ('w', 'CPU', true, '')")


async def ended(world: World, mode: Mode, *, public_s: float, secret_s: float = 0.0) -> None:
    """A submission of bob's whose runs took so long."""
    sent = await world.submit(world.bob.user, mode=mode)
    async with world.database.write() as session:
        await session.do(
            "UPDATE runs SET state = 'finished', verdict = 'accepted', finished_at = now(),"
            " started_at = now() - make_interval("
            "secs => CASE WHEN secret THEN %(secret_s)s ELSE %(public_s)s END)"
            " WHERE submission_id = %(sent)s",
            {"sent": sent.id, "public_s": public_s, "secret_s": secret_s},
        )


async def test_the_wait_counts_how_much_of_ones_own_may_run(world: World) -> None:
    await world.board()
    rules = QueueRules(running_limit=1)
    await served(world)
    async with open_services(world.database.url, DEVICES, queue_rules=rules) as core:
        limited = World(world.database, core.services, world.admin, world.ada, world.bob)
        sent = [(await limited.submit(mode=Mode.TEST)).id for _ in range(4)]
        judge = judging(world, rules)
        assert await judge.claim("CPU", "w") is not None
        await ended_after(world, sent[0], 6.0)
        await judge.claim("CPU", "w")
        place = core.services.submissions.queue_position
        found = [await place(one) for one in sent[2:]]
        theirs = await place((await limited.submit(world.bob.user, mode=Mode.TEST)).id)
    # One of two slots is free, but not for ada, who may have one run at a time.
    assert [6, 12] == [place.wait_s for place in found if place]
    assert theirs is not None
    assert 0 == theirs.wait_s
