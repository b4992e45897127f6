"""Whose run is judged next, and how many of one author may wait or run."""

import asyncio
import contextlib
import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as bounded
from hypothesis import strategies as st

from kernelbot.accounts.model import User
from kernelbot.domain.errors import TooManyRequests
from kernelbot.domain.states import RunState, SubmissionState
from kernelbot.protocol import Fault, HarnessKind, Mode, Phase, SourceFile
from kernelbot.runs.claims import MAX_TAKEOVERS, Claim
from kernelbot.runs.lifecycle import RunLifecycle
from kernelbot.runs.queue.model import QueueRules
from kernelbot.server.wiring import open_services
from tests.fakes.host import result_of
from tests.support.exhaustive import examples
from tests.support.judging import judging
from tests.support.problems import sort_problem
from tests.support.world import DEVICES, World


async def waiting(world: World) -> list[int]:
    """The runs that are queued."""
    async with world.database.read() as session:
        rows = await session.all("SELECT id FROM runs WHERE state = 'queued' ORDER BY id")
    return [row["id"] for row in rows]


async def take(world: World, judge: RunLifecycle, owner: str = "w") -> Claim | None:
    return await judge.claim("CPU", owner)


async def take_and_pass(world: World, judge: RunLifecycle) -> Claim | None:
    """As `take`; the tests of a ranked submission pass at once, so that it may be timed."""
    claim = await take(world, judge)
    if claim is not None:
        async with world.database.write() as session:
            await session.do(
                "UPDATE runs r SET state = 'finished', verdict = 'accepted', finished_at = now()"
                " FROM submissions s WHERE s.id = r.submission_id AND s.mode = 'leaderboard'"
                " AND r.id = %(run_id)s AND NOT r.secret",
                {"run_id": claim.run_id},
            )
    return claim


async def taken(world: World, judge: RunLifecycle, count: int) -> list[int]:
    """The submissions whose runs are taken, in order."""
    claims = [await take_and_pass(world, judge) for _ in range(count)]
    return [claim.submission_id or 0 for claim in claims if claim is not None]


async def test_authors_take_turns(world: World) -> None:
    await world.board()
    ada = [(await world.submit(mode=Mode.TEST)).id for _ in range(3)]
    bob = [(await world.submit(world.bob.user, mode=Mode.TEST)).id for _ in range(2)]
    order = await taken(world, judging(world), 5)
    assert order == [ada[0], bob[0], ada[1], bob[1], ada[2]]


async def test_who_comes_later_waits_for_one_round_at_most(world: World) -> None:
    await world.board()
    ada = [(await world.submit(mode=Mode.TEST)).id for _ in range(3)]
    judge = judging(world)
    await take(world, judge)
    bob = await world.submit(world.bob.user, mode=Mode.TEST)
    assert await taken(world, judge, 2) == [bob.id, ada[1]]


async def test_devices_have_turns_of_their_own(world: World) -> None:
    await world.board("both", devices=("CPU", "H100"))
    for device in ("CPU", "H100"):
        await world.submit(board="both", mode=Mode.TEST, devices=(device,))
        await world.submit(world.bob.user, board="both", mode=Mode.TEST, devices=(device,))
    judge = judging(world)
    claims = [await judge.claim(device, "w") for device in ("CPU", "CPU", "H100", "H100")]
    async with world.database.read() as session:
        names = {row["id"]: row["name"] for row in await session.all("SELECT id, name FROM users")}
        rows = await session.all("SELECT id, author_id FROM submissions")
    authors = {row["id"]: names[row["author_id"]] for row in rows}
    order = [(c.spec.device.name, authors[c.submission_id]) for c in claims if c]
    assert order == [("CPU", "ada"), ("CPU", "bob"), ("H100", "ada"), ("H100", "bob")]


async def test_ranked_runs_go_first_when_asked(world: World) -> None:
    await world.board()
    test = await world.submit(mode=Mode.TEST)
    ranked = await world.submit(world.bob.user)
    rules = QueueRules(ranked_first=True)
    order = await taken(world, judging(world, rules), 3)
    assert order == [ranked.id, ranked.id, test.id]


async def test_secret_data_is_for_those_alone_whose_tests_passed(world: World) -> None:
    await world.board()
    first, second = await world.submit(), await world.submit(world.bob.user)
    judge = judging(world)
    claims = [await take(world, judge) for _ in range(3)]
    assert [first.id, second.id, None] == [claim and claim.submission_id for claim in claims]
    public, other, _ = claims
    assert public is not None
    assert other is not None
    assert [(Mode.TEST, False)] * 2 == [(c.spec.mode, c.spec.secret) for c in (public, other)]
    await judge.finish(public, "w", result_of(public.spec, ["accepted"]))
    await judge.finish(other, "w", result_of(other.spec, ["wrong_answer"]))
    timed = await take(world, judge)
    assert timed is not None
    assert (first.id, Mode.LEADERBOARD, True, None) == (
        timed.submission_id,
        timed.spec.mode,
        timed.spec.secret,
        await take(world, judge),
    )


async def test_what_was_measured_is_kept(world: World) -> None:
    await world.board()
    await world.submit(mode=Mode.BENCHMARK)
    judge = judging(world)
    claim = await take(world, judge)
    assert claim is not None
    result = result_of(claim.spec, ["accepted"])
    await judge.finish(claim, "w", result)
    async with world.database.read() as session:
        rows = await session.all(
            "SELECT run_id, phase, spec, samples, median_ns FROM measurements ORDER BY workload"
        )
    (load,) = result.phases[-1].workloads
    expected = (claim.run_id, Phase.BENCHMARK, load.spec, len(load.samples_ns), load.median_ns)
    assert [expected] == [tuple(row.values()) for row in rows]


@pytest.mark.parametrize("fault", [Fault.AUTHOR, Fault.PLATFORM])
async def test_what_fails_its_tests_has_no_other_run(world: World, fault: Fault) -> None:
    await world.board()
    sent = await world.submit()
    judge = judging(world)
    public = await take(world, judge)
    assert public is not None
    if fault is Fault.AUTHOR:
        await judge.finish(public, "w", result_of(public.spec, ["wrong_answer"]))
    else:
        await judge.lost(public, "w", "gone", fault, again=False)
    shown = await world.services.submissions.get(world.ada.user, sent.id)
    assert (SubmissionState.FINISHED, [False]) == (shown.state, [r.secret for r in shown.runs])
    assert [] == await waiting(world)


async def test_no_more_of_one_author_runs_than_may(world: World) -> None:
    await world.board()
    ada = [(await world.submit(mode=Mode.TEST)).id for _ in range(3)]
    bob = await world.submit(world.bob.user, mode=Mode.TEST)
    order = await taken(world, judging(world, QueueRules(running_limit=1)), 4)
    assert order == [ada[0], bob.id]


async def test_two_who_ask_at_once_take_different_runs(world: World) -> None:
    await world.board()
    for _ in range(8):
        await world.submit(mode=Mode.TEST)
    judge = judging(world)
    runs = await waiting(world)
    claims = await asyncio.gather(*(judge.claim("CPU", f"w{run}") for run in runs))
    assert sorted(claim.run_id for claim in claims if claim) == runs


async def test_the_running_limit_is_exact_when_many_ask_at_once(world: World) -> None:
    await world.board()
    for _ in range(8):
        await world.submit(mode=Mode.TEST)
    judge = judging(world, QueueRules(running_limit=3))
    claims = await asyncio.gather(*(judge.claim("CPU", f"w{number}") for number in range(8)))
    assert len([claim for claim in claims if claim]) == 3


@contextlib.contextmanager
def announcements(world: World) -> Iterator[Callable[[], list[str]]]:
    """The devices whose workers were woken since the last call."""
    with (
        psycopg.connect(world.database.url, autocommit=True) as listening,
        psycopg.connect(world.database.url, autocommit=True) as speaking,
    ):
        listening.execute("LISTEN kernelbot_turns")

        def announced() -> list[str]:
            # It comes after all that were sent before it.
            speaking.execute("NOTIFY kernelbot_turns, 'so far'")
            notices = (notice.payload for notice in listening.notifies(timeout=60))
            return list(itertools.takewhile(lambda payload: payload != "so far", notices))

        yield announced


async def test_a_submit_wakes_the_workers_of_its_device(world: World) -> None:
    await world.board()
    with announcements(world) as announced:
        await world.submit(mode=Mode.TEST)
        assert announced() == ["CPU"]


async def test_the_end_of_a_run_wakes_for_the_one_passed_over(world: World) -> None:
    await world.board()
    for _ in range(2):
        await world.submit(mode=Mode.TEST)
    judge = judging(world, QueueRules(running_limit=1))
    claim = await take(world, judge)
    assert claim is not None
    assert await take(world, judge) is None
    with announcements(world) as announced:
        await judge.lost(claim, "w", "gone", Fault.PLATFORM)
        assert announced() == ["CPU"]
    assert await take(world, judge) is not None


async def test_a_cancelled_run_wakes_for_the_one_passed_over(world: World) -> None:
    await world.board()
    judge = judging(world, QueueRules(running_limit=1))
    first, second = [await world.submit(mode=Mode.TEST) for _ in range(2)]
    await taken(world, judge, 1)
    with announcements(world) as announced:
        await world.services.submissions.cancel(world.ada.user, first.id)
        assert announced() == ["CPU"]
    assert await taken(world, judge, 1) == [second.id]


async def test_a_worker_known_to_be_dead_wakes_the_others(world: World) -> None:
    await world.board()
    await world.submit(mode=Mode.TEST)
    judge = judging(world)
    await take(world, judge, "killed")
    with announcements(world) as announced:
        assert await judge.expire(["killed"]) == 1
        assert announced() == ["CPU"]


async def test_more_than_may_wait_is_refused_whole(world: World) -> None:
    await world.board()
    rules = QueueRules(waiting_limit=3)
    async with open_services(world.database.url, DEVICES, queue_rules=rules) as core:
        limited = World(world.database, core.services, world.admin, world.ada, world.bob)
        await limited.submit()
        with pytest.raises(TooManyRequests):
            await limited.submit()
        await limited.submit(mode=Mode.TEST)
        await limited.submit(world.bob.user)
    assert len(await waiting(world)) == 5


async def test_the_waiting_limit_is_exact_when_many_come_at_once(world: World) -> None:
    await world.board()
    rules = QueueRules(waiting_limit=5)
    async with open_services(world.database.url, DEVICES, queue_rules=rules) as core:
        limited = World(world.database, core.services, world.admin, world.ada, world.bob)
        answers = await asyncio.gather(
            *(limited.submit(mode=Mode.TEST) for _ in range(20)), return_exceptions=True
        )
    refused = [answer for answer in answers if isinstance(answer, TooManyRequests)]
    assert (5, 15) == (len(await waiting(world)), len(refused))


async def test_a_clock_put_back_doesnt_keep_a_dead_workers_run(world: World) -> None:
    await world.board()
    await world.submit(mode=Mode.TEST)
    judge = judging(world)
    claim = await take(world, judge)
    assert claim is not None
    async with world.database.write() as session:
        await session.do("UPDATE attempts SET heartbeat_at = now() + interval '1 hour'")
    taken_over = await judge.claim("CPU", "other")
    assert taken_over is not None
    assert taken_over.attempt_id == claim.attempt_id


async def test_a_heartbeat_waits_for_no_attempt_that_is_just_changed(world: World) -> None:
    await world.board()
    for _ in range(2):
        await world.submit(mode=Mode.TEST)
    judge = judging(world)
    claims = [await judge.claim("CPU", "alive") for _ in range(2)]
    mine = {claim.attempt_id for claim in claims if claim}
    async with world.database.write() as session:
        await session.do("UPDATE attempts SET heartbeat_at = '-infinity'")
    async with world.database.write() as session:
        await session.all("SELECT 1 AS x FROM attempts ORDER BY id LIMIT 1 FOR NO KEY UPDATE")
        kept = await judge.heartbeat("alive", "node", [], mine, {})
    async with world.database.read() as session:
        rows = await session.all("SELECT id FROM attempts WHERE heartbeat_at > '-infinity'")
    assert (mine, [max(mine)]) == (kept, [row["id"] for row in rows])


async def test_what_a_dead_worker_left_keeps_its_place(world: World) -> None:
    await world.board()
    ada = [(await world.submit(mode=Mode.TEST)).id for _ in range(3)]
    judge = judging(world)
    first = await judge.claim("CPU", "killed")
    async with world.database.write() as session:
        await session.do("UPDATE attempts SET heartbeat_at = '-infinity'")
    claims = [await judge.claim("CPU", "other") for _ in range(3)]
    assert first is not None
    assert ada == [claim.submission_id or 0 for claim in claims if claim]


async def test_a_clock_put_back_doesnt_hold_up_a_retry(world: World) -> None:
    await world.board()
    submitted = await world.submit(mode=Mode.TEST)
    async with world.database.write() as session:
        await session.do("UPDATE runs SET ready_at = now() + interval '1 hour'")
    assert await taken(world, judging(world), 1) == [submitted.id]


async def test_a_clock_put_back_makes_no_dead_worker_available(world: World) -> None:
    async with world.database.write() as session:
        await session.do(
            "INSERT INTO workers (owner, node, heartbeat_at)"
            " VALUES ('dead', 'n', now() + interval '1 day')"
        )
        await session.do("INSERT INTO worker_devices VALUES ('dead', 'CPU', true, '')")
    assert [False, False] == [one.available for one in await world.services.devices.list_devices()]


async def test_a_retry_waits_for_its_pause_and_lets_others_go(world: World) -> None:
    await world.board()
    await world.submit(mode=Mode.TEST)
    other = await world.submit(world.bob.user, mode=Mode.TEST)
    async with world.database.write() as session:
        await session.do(
            "UPDATE runs SET ready_at = now() + interval '30 s' WHERE submission_id <> %(id)s",
            {"id": other.id},
        )
    assert await taken(world, judging(world), 2) == [other.id]


MODES = st.sampled_from((Mode.TEST, Mode.LEADERBOARD))


@bounded(
    max_examples=examples(15),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    sent=st.lists(st.tuples(st.integers(0, 2), MODES), min_size=1, max_size=8),
    taken_before=st.integers(0, 3),
    ranked_first=st.booleans(),
)
async def test_places_are_the_order_in_which_runs_are_taken(
    world: World, sent: Sequence[tuple[int, Mode]], taken_before: int, ranked_first: bool
) -> None:
    async with world.database.write() as session:
        await session.do("DELETE FROM submissions")
        await session.do("DELETE FROM leaderboards")
    await world.board()
    people: list[User] = [world.ada.user, world.bob.user, world.admin.user]
    for person, mode in sent:
        await world.submit(people[person], mode=mode)
    judge = judging(world, QueueRules(ranked_first=ranked_first))
    await taken(world, judge, taken_before)
    async with world.database.read() as session:
        rows = await session.all(
            "SELECT id FROM runs WHERE state = 'queued' ORDER BY"
            " (queue_line(submission_id, %(ranked)s, 30, false, id) ->> 'position')::int",
            {"ranked": ranked_first},
        )
    claims = [await take_and_pass(world, judge) for _ in rows]
    assert [row["id"] for row in rows] == [claim.run_id for claim in claims if claim]


@pytest.mark.parametrize(
    "steps", range(5), ids=["queued", "dispatched", "launched", "running", "lost"]
)
async def test_cancelling_works_at_every_state_and_frees_the_turn(world: World, steps: int) -> None:
    await world.board()
    submitted = await world.submit(mode=Mode.TEST)
    judge = judging(world)
    if steps >= 1:
        claim = await take(world, judge)
        assert claim is not None
        if steps >= 2:
            await judge.launched(claim, "w", "handle")
        if steps >= 3:
            await judge.progressed(claim, "w", [])
        if steps >= 4:
            await judge.lost(claim, "w", "gone", Fault.PLATFORM)
    shown = await world.services.submissions.cancel(world.ada.user, submitted.id)
    async with world.database.read() as session:
        turn = await session.one("SELECT waiting, running FROM queue_turns")
    assert (RunState.CANCELLED, {"waiting": 0, "running": 0}) == (shown.runs[0].state, turn)


async def test_an_attempt_that_ends_its_workers_is_lost(world: World) -> None:
    await world.board()
    await world.submit(mode=Mode.TEST)
    judge = judging(world)
    found = []
    for number in range(MAX_TAKEOVERS + 2):
        claim = await judge.claim("CPU", f"w{number}")
        found.append(claim.spec.job_id.split(".")[1] if claim else None)
        await judge.expire([f"w{number}"])
    again = await judge.claim("CPU", "w")
    assert [*["1"] * (MAX_TAKEOVERS + 1), None] == found
    assert again is not None
    assert "2" == again.spec.job_id.split(".")[1]


async def board_with(world: World, name: str, text: str, **edited: Any) -> None:
    plain = sort_problem(name)
    files = (*plain.spec.files, SourceFile("task.py", text))
    problem = replace(plain, spec=replace(plain.spec, files=files, **edited))
    await world.services.boards.create(world.admin.user, problem, name=name, devices=("CPU",))


@pytest.mark.parametrize("text", ["import torch\n", "import triton.language as tl\n"])
async def test_a_device_whose_board_mentions_torch_needs_it(world: World, text: str) -> None:
    before = await judging(world).devices_for_torch()
    await board_with(world, "matmul", text)
    after = await judging(world).devices_for_torch()
    assert (frozenset(), frozenset({"CPU"})) == (before, after)


async def test_a_board_that_has_closed_or_has_a_script_of_its_own_needs_no_torch(
    world: World,
) -> None:
    await board_with(world, "scripted", "import torch\n", harness=HarnessKind.SCRIPT)
    await board_with(world, "closed", "import torch\n")
    async with world.database.write() as session:
        await session.do("UPDATE leaderboards SET deadline = now() WHERE name = 'closed'")
    assert frozenset() == await judging(world).devices_for_torch()
