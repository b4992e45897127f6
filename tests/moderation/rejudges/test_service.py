import asyncio
from datetime import datetime
from itertools import pairwise
from pathlib import Path

import psycopg
import pytest

from kernelbot.attestations.answers import SignedDocument
from kernelbot.attestations.service import Attestations
from kernelbot.client.documents import verify
from kernelbot.domain.errors import Conflict, DeviceNotOffered, NotAllowed, NotFound
from kernelbot.moderation.rejudges.model import Rejudge
from kernelbot.protocol import Limits, Mode, SamplingRules, SandboxMode
from kernelbot.runs.lifecycle import RunLifecycle, RunRules
from kernelbot.runs.queue.model import QueueRules
from kernelbot.schemas.values import to_json
from tests.support.workers import finished, quick_settings, working
from tests.support.world import DEVICES, World


async def _ranked(world: World, folder: Path, *scores: float) -> list[int]:
    """Submissions of ada, bob, ... with these scores."""
    numbers = []
    people = [world.ada.user, world.bob.user, world.admin.user]
    async with working(quick_settings(folder), world.database.url):
        for author, score in zip(people, scores, strict=False):
            content = f"# fake: accepted {score}\n# {author.name}\n".encode()
            sent = await world.submit(author, content=content)
            await finished(world, sent.id)
            numbers.append(sent.id)
    return numbers


def _measure_otherwise(world: World, number: int, score: float) -> None:
    """From now on the device finds another score: what it runs is replaced."""
    with psycopg.connect(world.database.url) as connection:
        connection.execute(
            "UPDATE sources SET content = %s WHERE sha256 ="
            " (SELECT source_sha256 FROM submissions WHERE id = %s)",
            (f"# fake: accepted {score}\n", number),
        )


def _let_it_take(world: World, number: int, time_s: float) -> None:
    """From now on it runs for so long."""
    with psycopg.connect(world.database.url) as connection:
        connection.execute(
            "UPDATE sources SET content = replace(content, 'fake: ', %s) WHERE sha256 ="
            " (SELECT source_sha256 FROM submissions WHERE id = %s)",
            (f"fake: sleep {time_s} ", number),
        )


def _spans(world: World) -> list[tuple[datetime, datetime]]:
    """When runs of rejudges and of test submissions ran, in order."""
    with psycopg.connect(world.database.url) as connection:
        return connection.execute(
            "SELECT min(e.created_at) FILTER (WHERE e.kind = 'running') AS began,"
            " max(e.created_at) FILTER (WHERE e.kind = 'finished')"
            " FROM events e JOIN runs r ON r.id = e.run_id JOIN submissions s"
            " ON s.id = r.submission_id WHERE r.rejudge_id IS NOT NULL OR s.mode = 'test'"
            " GROUP BY r.id ORDER BY began"
        ).fetchall()


def _judging(world: World, rules: QueueRules | None = None) -> RunLifecycle:
    everything = RunRules(
        Limits(), SamplingRules(), SandboxMode.NONE, stale_s=30, queue=rules or QueueRules()
    )
    return RunLifecycle(world.database, DEVICES, everything)


async def _rejudged(world: World, folder: Path, top: int | None = None) -> Rejudge:
    started = await world.services.rejudging.start(world.admin.user, "sort", top=top)
    async with working(quick_settings(folder), world.database.url), asyncio.timeout(60):
        while started.finished_at is None:
            await asyncio.sleep(0.05)
            started = await world.services.rejudging.get(world.admin.user, "SORT", started.id)
    return started


@pytest.mark.exhaustive  # each run has test_one_at_a_time
async def test_the_ranking_follows_the_new_measurements(world: World, tmp_path: Path) -> None:
    await world.board()
    ada, bob = await _ranked(world, tmp_path, 1.0, 2.0)
    _measure_otherwise(world, ada, 3.0)
    done = await _rejudged(world, tmp_path)
    page = await world.services.standings.page(None, "sort", None)
    assert [(1.0, 3.0), (2.0, 2.0)] == [(run.before_s, run.after_s) for run in done.runs]
    assert [("bob", 2.0, bob), ("ada", 3.0, ada)] == [
        (row.author, row.score_s, row.submission_id) for row in page.standings
    ]


@pytest.mark.exhaustive  # each run has test_one_at_a_time
async def test_only_the_best_are_measured_again(world: World, tmp_path: Path) -> None:
    await world.board()
    best, *_ = await _ranked(world, tmp_path, 1.0, 2.0, 3.0)
    done = await _rejudged(world, tmp_path, top=1)
    assert [best] == [run.submission_id for run in done.runs]


@pytest.mark.exhaustive
async def test_what_fails_now_is_ranked_no_more(world: World, tmp_path: Path) -> None:
    await world.board()
    await _ranked(world, tmp_path, 1.0)
    with psycopg.connect(world.database.url) as connection:
        connection.execute("UPDATE sources SET content = '# fake: wrong_answer'")
    await _rejudged(world, tmp_path)
    page = await world.services.standings.page(None, "sort", None)
    assert page.standings == ()


@pytest.mark.exhaustive
async def test_a_submission_shows_its_new_score_and_stays_finished(
    world: World, tmp_path: Path
) -> None:
    await world.board()
    (ada,) = await _ranked(world, tmp_path, 1.0)
    _measure_otherwise(world, ada, 1.5)
    started = await world.services.rejudging.start(world.admin.user, "sort")
    while_it_waits = await world.services.submissions.get(world.ada.user, ada)
    assert ("finished", 1.0) == (while_it_waits.state, while_it_waits.score_s)
    async with working(quick_settings(tmp_path), world.database.url):
        while started.finished_at is None:
            started = await world.services.rejudging.get(world.admin.user, "sort", started.id)
    shown = await world.services.submissions.get(world.ada.user, ada)
    assert (1.5, 1, 2) == (shown.score_s, shown.place, len(shown.runs))
    signed = await world.services.extension(Attestations).for_submission(world.ada.user, ada)
    checks = verify(to_json(SignedDocument, signed)).checks
    assert [("no_score", 0), ("equal", 3), ("equal", 3)] == [
        (check.outcome, check.samples) for check in checks
    ]


@pytest.mark.exhaustive
async def test_its_samples_are_kept_for_download(world: World, tmp_path: Path) -> None:
    await world.board()
    (ada,) = await _ranked(world, tmp_path, 1.0)
    _measure_otherwise(world, ada, 1.5)
    done = await _rejudged(world, tmp_path)
    samples = await world.services.submissions.measured(world.admin.user, ada)
    assert [(None, 1e9), (done.id, 1.5e9)] == [
        (load.rejudge_id, load.samples_ns[0]) for load in samples
    ]


@pytest.mark.exhaustive
async def test_its_samples_are_on_secret_data(world: World, tmp_path: Path) -> None:
    await world.board()
    (ada,) = await _ranked(world, tmp_path, 1.0)
    await _rejudged(world, tmp_path)
    runs = await world.services.submissions.measured(world.ada.user, ada)
    assert [True, True] == [load.secret for load in runs]


@pytest.mark.exhaustive
async def test_each_is_measured_alone_although_the_device_has_room(
    world: World, tmp_path: Path
) -> None:
    await world.board()
    numbers = await _ranked(world, tmp_path, 1.0, 2.0, 3.0)
    for number in numbers:
        _let_it_take(world, number, 0.3)
    beside = await world.submit(content=b"# fake: sleep 0.3 accepted\n", mode=Mode.TEST)
    await _rejudged(world, tmp_path)
    async with working(quick_settings(tmp_path), world.database.url):
        await finished(world, beside.id)
    spans = _spans(world)
    assert 4 == len(spans)
    assert all(end <= start for (_, end), (start, _) in pairwise(spans))


@pytest.mark.exhaustive  # each run has test_one_at_a_time
@pytest.mark.parametrize("ranked_first", [True, False])
async def test_it_goes_before_everything_that_waits(
    world: World, tmp_path: Path, ranked_first: bool
) -> None:
    await world.board()
    (ada,) = await _ranked(world, tmp_path, 1.0)
    await world.submit(world.bob.user)
    await world.services.rejudging.start(world.admin.user, "sort")
    claim = await _judging(world, QueueRules(ranked_first=ranked_first)).claim("CPU", "w")
    assert claim is not None
    assert (ada, True) == (claim.submission_id, claim.alone)


@pytest.mark.exhaustive
async def test_the_worker_that_began_measures_all(world: World, tmp_path: Path) -> None:
    await world.board()
    ada, bob = await _ranked(world, tmp_path, 1.0, 2.0)
    await world.services.rejudging.start(world.admin.user, "sort")
    judge = _judging(world)
    for owner in ("one", "two"):
        await judge.heartbeat(owner, "node", [], set(), {})
    claims = [await judge.claim("CPU", owner) for owner in ("one", "two", "one", "one")]
    assert [ada, None, bob, None] == [claim and claim.submission_id for claim in claims]


@pytest.mark.exhaustive
async def test_another_worker_continues_if_that_one_is_dead(world: World, tmp_path: Path) -> None:
    await world.board()
    ada, bob = await _ranked(world, tmp_path, 1.0, 2.0)
    await world.services.rejudging.start(world.admin.user, "sort")
    judge = _judging(world)
    for owner in ("one", "two"):
        await judge.heartbeat(owner, "node", [], set(), {})
    await judge.claim("CPU", "one")
    await judge.expire(["one"])
    claims = [await judge.claim("CPU", "two") for _ in range(2)]
    assert [ada, bob] == [claim and claim.submission_id for claim in claims]


@pytest.mark.exhaustive
async def test_a_worker_with_nothing_to_measure_judges_others(world: World, tmp_path: Path) -> None:
    await world.board()
    await _ranked(world, tmp_path, 1.0, 2.0)
    other = await world.submit(world.bob.user, mode=Mode.TEST)
    await world.services.rejudging.start(world.admin.user, "sort")
    judge = _judging(world)
    await judge.heartbeat("one", "node", [], set(), {})
    await judge.claim("CPU", "one")
    claim = await judge.claim("CPU", "two")
    assert claim is not None
    assert other.id == claim.submission_id


@pytest.mark.exhaustive  # each run has test_one_at_a_time
async def test_of_two_workers_one_measures_all(world: World, tmp_path: Path) -> None:
    await world.board()
    for number in await _ranked(world, tmp_path, 1.0, 2.0, 3.0):
        _let_it_take(world, number, 0.1)
    async with working(quick_settings(tmp_path / "other", slots=1), world.database.url):
        await _rejudged(world, tmp_path)
    async with world.database.read() as session:
        rows = await session.all(
            "SELECT a.owner FROM attempts a JOIN runs r ON r.id = a.run_id"
            " WHERE r.rejudge_id IS NOT NULL"
        )
    assert (3, 1) == (len(rows), len({row["owner"] for row in rows}))


async def test_one_at_a_time(world: World, tmp_path: Path) -> None:
    await world.board()
    await _ranked(world, tmp_path, 1.0)
    await world.services.rejudging.start(world.admin.user, "sort")
    with pytest.raises(Conflict, match="already"):
        await world.services.rejudging.start(world.admin.user, "sort")


async def test_there_must_be_someone(world: World) -> None:
    await world.board()
    with pytest.raises(Conflict, match="Nobody"):
        await world.services.rejudging.start(world.admin.user, "sort")


async def test_it_is_for_organisers(world: World) -> None:
    await world.board()
    with pytest.raises(NotAllowed):
        await world.services.rejudging.start(world.ada.user, "sort")


async def test_a_device_must_be_offered(world: World) -> None:
    await world.board()
    with pytest.raises(DeviceNotOffered):
        await world.services.rejudging.start(world.admin.user, "sort", device="H100")


@pytest.mark.parametrize("number", [0, -1, 5, 2**63])
async def test_unknown_ones_are_not_found(world: World, number: int) -> None:
    await world.board()
    with pytest.raises(NotFound):
        await world.services.rejudging.get(world.admin.user, "sort", number)
