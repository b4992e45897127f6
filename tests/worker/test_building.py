"""What is compiled before a run's launcher is asked, by whom, how often, and what travels."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from kernelbot.launchers.base import JobState, Left, Outcome
from kernelbot.protocol import EventKind, Fault, JobSpec, Mode, Product, ProgressEvent, Verdict
from kernelbot.server.settings import Settings
from kernelbot.server.tables import BuildSettings, DeviceSettings
from kernelbot.submissions.model import Submission
from kernelbot.worker.building import MAX_TRIES
from tests.fakes.host import result_of
from tests.fakes.scheduler import FakeScheduler
from tests.support.building import ERROR, built, compiled_sort, product_of, refused
from tests.support.launchers import FakeTable
from tests.support.results import left_of
from tests.support.waiting import until, until_told
from tests.support.workers import finished, quick_settings, working
from tests.support.world import World

SOURCE = b"// fake: accepted 0.5\n"
PRODUCT = product_of(b"a library")


class Cluster:
    """A device whose jobs go to `far`, and the one that builds for it, at `shop`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.far = FakeScheduler()
        self.shop = FakeScheduler()

    def settings(self, *, slots: int = 4, limit_bytes: int = 1 << 30, image: str = "") -> Settings:
        devices = (
            DeviceSettings(
                name="CPU", launcher=("far",), slots=slots, builds_on="Builder", image=image
            ),
            DeviceSettings(name="Builder", launcher=("shop",), slots=2),
        )
        tables = {name: FakeTable(scheduler=getattr(self, name)) for name in ("far", "shop")}
        changed = {
            "devices": devices,
            "launchers": tables,
            "builds": BuildSettings(limit_bytes=limit_bytes),
        }
        return quick_settings(self.folder).model_copy(update=changed)

    async def steps(self, count: int = 1) -> list[tuple[str, JobSpec]]:
        """The build steps that are under way, once there are so many."""
        await until(lambda: len(self.shop.specs) >= count)
        return list(self.shop.specs.items())

    async def build(self, product: Product | None = PRODUCT) -> None:
        for handle, step in await self.steps():
            self.shop.end(handle, Outcome(JobState.FINISHED, left_of(built(step, product))))

    async def judge(self, *words: str) -> JobSpec:
        """End the run that is under way with what the words say; what it was."""
        await until(lambda: self.far.specs)
        ((handle, spec),) = self.far.specs.items()
        result = result_of(spec, list(words or ("accepted", "0.5")))
        self.far.end(handle, Outcome(JobState.FINISHED, left_of(result)))
        await until(lambda: handle not in self.far.specs)
        return spec

    async def judge_all(self, count: int) -> None:
        """End so many runs, whenever they come."""
        ended: set[str] = set()

        def have_ended() -> bool:
            for handle in self.far.specs.keys() - ended:
                result = left_of(result_of(self.far.specs[handle], ["accepted"]))
                self.far.end(handle, Outcome(JobState.FINISHED, result))
                ended.add(handle)
            return len(ended) == count

        await until(have_ended)


@pytest.fixture
def cluster(tmp_path: Path) -> Cluster:
    return Cluster(tmp_path)


@pytest.fixture
async def judged(world: World) -> World:
    await world.services.boards.create(
        world.admin.user, compiled_sort(), name="sort", devices=("CPU",)
    )
    return world


async def submit(
    world: World, mode: Mode = Mode.TEST, content: bytes = SOURCE, *, by_bob: bool = False
) -> Submission:
    author = world.bob.user if by_bob else world.ada.user
    return await world.submit(author, mode=mode, content=content, file_name="fast.cpp")


async def kept(world: World) -> int:
    async with world.database.read() as session:
        row = await session.one("SELECT count(*) AS kept FROM builds")
    assert row is not None
    return int(row["kept"])


async def test_what_does_not_compile_never_reaches_the_scheduler(
    judged: World, cluster: Cluster
) -> None:
    async with working(cluster.settings(), judged.database.url):
        submitted = await submit(judged, Mode.LEADERBOARD)
        ((handle, step),) = await cluster.steps()
        cluster.shop.end(handle, Outcome(JobState.FINISHED, left_of(refused(step))))
        shown = await finished(judged, submitted.id)
    (run,) = shown.runs
    assert (Verdict.COMPILE_ERROR, Fault.AUTHOR, ERROR) == (run.verdict, run.fault, run.message)
    assert run.result is not None
    assert run.result.compile is not None
    assert (ERROR, True) == (run.result.compile.output, "build" in run.result.timings)
    assert ([], {}, 0) == (cluster.far.launches, cluster.shop.specs, await kept(judged))


async def test_one_build_serves_the_public_run_and_the_secret_one(
    judged: World, cluster: Cluster
) -> None:
    async with working(cluster.settings(), judged.database.url):
        submitted = await submit(judged, Mode.LEADERBOARD)
        await cluster.build()
        public, secret = await cluster.judge(), await cluster.judge()
        shown = await finished(judged, submitted.id)
    assert (False, True, 1) == (public.secret, secret.secret, len(cluster.shop.launches))
    assert (PRODUCT, PRODUCT) == (public.product, secret.product)
    assert all(run.result and "build" in run.result.timings for run in shown.runs)


async def test_a_build_step_is_told_nothing_of_the_run(judged: World, cluster: Cluster) -> None:
    async with working(cluster.settings(), judged.database.url):
        await submit(judged, Mode.LEADERBOARD)
        ((_, step),) = await cluster.steps()
        await cluster.build()
        await cluster.judge()
    assert (True, "Builder", None, False, ()) == (
        step.build_only,
        step.device.name,
        step.seed,
        step.secret,
        step.problem.tests,
    )


@pytest.mark.exhaustive  # each run has test_one_build_serves_the_public_run_and_the_secret_one
async def test_whoever_sends_the_same_source_again_needs_no_build(
    judged: World, cluster: Cluster
) -> None:
    async with working(cluster.settings(), judged.database.url):
        for by_bob in (False, True):
            submitted = await submit(judged, by_bob=by_bob)
            if not by_bob:
                await cluster.build()
            assert PRODUCT == (await cluster.judge()).product
            await finished(judged, submitted.id)
    assert 1 == len(cluster.shop.launches)


@pytest.mark.exhaustive  # each run has test_one_build_serves_the_public_run_and_the_secret_one
async def test_a_duel_carries_what_was_built_of_both(judged: World, cluster: Cluster) -> None:
    """And nothing is built for it again."""
    sources = (b"int a;", b"int b;")
    products = [product_of(source) for source in sources]
    async with working(cluster.settings(), judged.database.url):
        for by_bob, (content, product) in enumerate(zip(sources, products, strict=True)):
            submitted = await submit(judged, Mode.LEADERBOARD, content, by_bob=bool(by_bob))
            await cluster.build(product)
            for _ in range(2):
                await cluster.judge("accepted", "1.0", "0.95", "1.05")
            await finished(judged, submitted.id)
        duel = await cluster.judge("1", "0.99", "1.01")
    assert duel.opponent is not None
    found = {
        duel.submission.text.encode(): duel.product,
        duel.opponent.text.encode(): duel.opponent_product,
    }
    assert dict(zip(sources, products, strict=True)) == found
    assert 2 == len(cluster.shop.launches)


@pytest.mark.exhaustive  # each run has test_one_build_serves_the_public_run_and_the_secret_one
async def test_two_runs_of_one_source_wait_for_one_build(judged: World, cluster: Cluster) -> None:
    async with working(cluster.settings(), judged.database.url):
        both = [await submit(judged, by_bob=by_bob) for by_bob in (False, True)]
        await until_told(lambda: _is_dispatched(judged, 2))
        await cluster.build()
        await cluster.judge_all(2)
        verdicts = [(await finished(judged, one.id)).verdict for one in both]
    assert ([Verdict.ACCEPTED] * 2, 1) == (verdicts, len(cluster.shop.launches))


@pytest.mark.exhaustive  # each run has test_one_build_serves_the_public_run_and_the_secret_one
async def test_so_do_those_of_two_workers(judged: World, cluster: Cluster, tmp_path: Path) -> None:
    other = Cluster(tmp_path / "other")
    other.far, other.shop = cluster.far, cluster.shop
    url = judged.database.url
    first, second = cluster.settings(slots=1), other.settings(slots=1)
    async with working(first, url), working(second, url):
        both = [await submit(judged, by_bob=by_bob) for by_bob in (False, True)]
        await until_told(lambda: _is_dispatched(judged, 2))
        await cluster.build()
        await cluster.judge_all(2)
        verdicts = [(await finished(judged, one.id)).verdict for one in both]
    assert ([Verdict.ACCEPTED] * 2, 1) == (verdicts, len(cluster.shop.launches))


async def _is_dispatched(world: World, count: int) -> bool:
    async with world.database.read() as session:
        row = await session.one("SELECT count(*) AS open FROM runs WHERE state <> 'queued'")
    return row is not None and int(row["open"]) == count


@pytest.mark.exhaustive  # each run has test_one_build_serves_the_public_run_and_the_secret_one
async def test_a_build_takes_no_slot_of_the_device(judged: World, cluster: Cluster) -> None:
    """While one source is compiled, another that was compiled before is judged."""
    async with working(cluster.settings(slots=1), judged.database.url):
        await submit(judged)
        await cluster.build()
        await cluster.judge()
        slow = await submit(judged, content=b"int slow;")
        await until(lambda: len(cluster.shop.launches) == 2)
        again = await submit(judged, by_bob=True)
        await cluster.judge()
        assert Verdict.ACCEPTED == (await finished(judged, again.id)).verdict
        await cluster.build()
        await cluster.judge()
        await finished(judged, slow.id)


@pytest.mark.exhaustive  # each run has test_one_build_serves_the_public_run_and_the_secret_one
async def test_a_worker_that_stops_while_it_builds_leaves_the_job_to_the_next(
    judged: World, cluster: Cluster
) -> None:
    config = cluster.settings()
    async with working(config, judged.database.url):
        submitted = await submit(judged)
        await until(lambda: cluster.shop.specs and cluster.shop.polls)
    async with working(config, judged.database.url):
        await cluster.build()
        await cluster.judge()
        shown = await finished(judged, submitted.id)
    assert (1, 1, []) == (
        shown.runs[0].attempts,
        len(cluster.shop.launches),
        cluster.shop.cancelled,
    )


@pytest.mark.exhaustive
async def test_what_was_built_outlives_the_worker(judged: World, cluster: Cluster) -> None:
    """One that ends between the build and the launch, as when it is killed."""
    config = cluster.settings()
    cluster.far.launch_s = 3600.0
    async with working(config, judged.database.url):
        submitted = await submit(judged)
        await cluster.build()
        await until(lambda: cluster.far.launching)
        async with judged.database.write() as session:  # it is somebody else's now
            await session.do("UPDATE attempts SET heartbeat_at = 'epoch', owner = 'killed'")
        await until(lambda: not any("run " in (t.get_name()) for t in asyncio.all_tasks()))
    cluster.far.launch_s = 0.0
    async with working(config, judged.database.url):
        assert PRODUCT == (await cluster.judge()).product
        shown = await finished(judged, submitted.id)
    assert (Verdict.ACCEPTED, 1) == (shown.verdict, len(cluster.shop.launches))


async def test_a_build_that_is_lost_is_tried_again(judged: World, cluster: Cluster) -> None:
    async with working(cluster.settings(), judged.database.url):
        submitted = await submit(judged)
        ((lost, _),) = await cluster.steps()
        cluster.shop.end(lost, Outcome(JobState.LOST, reason="its node is gone"))
        await until(lambda: len(cluster.shop.launches) == 2)
        await cluster.build()
        assert PRODUCT == (await cluster.judge()).product
        await finished(judged, submitted.id)


def _of_another_job(step: JobSpec) -> Left:
    return left_of(built(step, PRODUCT), job_id="8.1.0123456789ab")


def _with_another_hash(step: JobSpec) -> Left:
    return left_of(built(step, replace(PRODUCT, sha256="0" * 64)))


def _of_another_version(step: JobSpec) -> Left:
    return left_of(built(step, PRODUCT), version=99)


@pytest.mark.parametrize("left", [_of_another_job, _with_another_hash, _of_another_version])
async def test_without_a_build_the_run_is_judged_all_the_same(
    judged: World, cluster: Cluster, left: Callable[[JobSpec], Left]
) -> None:
    """Whatever a builder's node leaves."""
    async with working(cluster.settings(), judged.database.url):
        submitted = await submit(judged)
        for count in range(1, MAX_TRIES + 1):
            await until(lambda: len(cluster.shop.launches) == count)  # noqa: B023
            for handle, step in list(cluster.shop.specs.items()):
                cluster.shop.end(handle, Outcome(JobState.FINISHED, left(step)))
        spec = await cluster.judge()
        shown = await finished(judged, submitted.id)
    assert (None, Verdict.ACCEPTED, 0) == (spec.product, shown.verdict, await kept(judged))


async def test_a_builder_without_a_compiler_is_nobodys_fault(
    judged: World, cluster: Cluster
) -> None:
    async with working(cluster.settings(), judged.database.url):
        submitted = await submit(judged)
        ((handle, step),) = await cluster.steps()
        result = refused(step, Verdict.INTERNAL_ERROR)
        cluster.shop.end(handle, Outcome(JobState.FINISHED, left_of(result)))
        assert None is (await cluster.judge()).product
        shown = await finished(judged, submitted.id)
    assert (Verdict.ACCEPTED, 1) == (shown.verdict, len(cluster.shop.launches))


async def test_a_builder_that_is_away_holds_up_nobody(judged: World, cluster: Cluster) -> None:
    cluster.shop.down = "the controller doesn't answer"
    async with working(cluster.settings(), judged.database.url):
        submitted = await submit(judged)
        assert None is (await cluster.judge()).product
        assert Verdict.ACCEPTED == (await finished(judged, submitted.id)).verdict


@pytest.mark.exhaustive  # each run has test_one_build_serves_the_public_run_and_the_secret_one
async def test_what_has_nothing_to_carry_is_built_once_too(judged: World, cluster: Cluster) -> None:
    async with working(cluster.settings(), judged.database.url):
        submitted = await submit(judged, Mode.LEADERBOARD)
        await cluster.build(None)
        carried = [(await cluster.judge()).product for _ in range(2)]
        await finished(judged, submitted.id)
    assert ([None, None], 1) == (carried, len(cluster.shop.launches))


async def test_what_is_cancelled_is_not_built(judged: World, cluster: Cluster) -> None:
    async with working(cluster.settings(), judged.database.url):
        submitted = await submit(judged)
        ((handle, _),) = await cluster.steps()
        await until(lambda: cluster.shop.polls)
        await judged.services.submissions.cancel(judged.ada.user, submitted.id)
        await until(lambda: not cluster.shop.specs)
        await until_told(lambda: _has_none(judged))
    assert ([handle], []) == (cluster.shop.cancelled, cluster.far.launches)


@pytest.mark.exhaustive  # each run has test_without_a_build_the_run_is_judged_all_the_same
async def test_a_build_that_could_not_be_stopped_is_stopped_later(
    judged: World, cluster: Cluster
) -> None:
    async with working(cluster.settings(), judged.database.url):
        submitted = await submit(judged)
        ((handle, _),) = await cluster.steps()
        await until(lambda: cluster.shop.polls)
        cluster.shop.down = "the controller doesn't answer"
        await judged.services.submissions.cancel(judged.ada.user, submitted.id)
        await until_told(lambda: _has_none(judged))
        assert [] == cluster.shop.cancelled
        cluster.shop.down = None
        await until(lambda: cluster.shop.cancelled)
    assert [handle] == cluster.shop.cancelled


@pytest.mark.exhaustive  # each run has test_without_a_build_the_run_is_judged_all_the_same
async def test_a_build_of_which_no_answer_came_is_found_and_stopped(
    judged: World, cluster: Cluster
) -> None:
    async with working(cluster.settings(), judged.database.url):
        cluster.shop.is_mute = True
        submitted = await submit(judged)
        ((handle, _),) = await cluster.steps()
        await judged.services.submissions.cancel(judged.ada.user, submitted.id)
        await until(lambda: cluster.shop.cancelled)
    assert [handle] == cluster.shop.cancelled


async def _has_none(world: World) -> bool:
    return await kept(world) == 0


@pytest.mark.exhaustive  # each run has test_one_build_serves_the_public_run_and_the_secret_one
async def test_another_run_takes_over_what_a_cancelled_one_began(
    judged: World, cluster: Cluster
) -> None:
    async with working(cluster.settings(), judged.database.url):
        first = await submit(judged)
        await cluster.steps()
        second = await submit(judged, by_bob=True)
        await until_told(lambda: _is_dispatched(judged, 2))
        await judged.services.submissions.cancel(judged.ada.user, first.id)
        await until(lambda: len(cluster.shop.launches) == 2)
        await cluster.build()
        assert PRODUCT == (await cluster.judge()).product
        await finished(judged, second.id)


async def test_another_image_is_another_build(judged: World, cluster: Cluster) -> None:
    for image in ("cuda-12", "cuda-13"):
        async with working(cluster.settings(image=image), judged.database.url):
            submitted = await submit(judged)
            await cluster.build()
            await cluster.judge()
            await finished(judged, submitted.id)
    assert 2 == len(cluster.shop.launches)


@pytest.mark.exhaustive  # each run has test_one_build_serves_the_public_run_and_the_secret_one
async def test_what_was_not_used_for_longest_makes_room(judged: World, cluster: Cluster) -> None:
    size_bytes = 3000 + len(PRODUCT.content_base64)
    sources = (b"int a;", b"int b;", b"int c;", b"int a;", b"int c;")
    async with working(cluster.settings(limit_bytes=size_bytes), judged.database.url):
        for source in sources:
            before = len(cluster.shop.launches)
            submitted = await submit(judged, content=source)
            await until(lambda: cluster.far.specs or cluster.shop.specs)
            if len(cluster.shop.launches) > before:
                await cluster.build()
            await cluster.judge()
            await finished(judged, submitted.id)
    assert (4, 2) == (len(cluster.shop.launches), await kept(judged))


async def test_what_is_deleted_leaves_no_build(judged: World, cluster: Cluster) -> None:
    async with working(cluster.settings(), judged.database.url):
        submitted = await submit(judged)
        await cluster.build()
        await cluster.judge()
        await finished(judged, submitted.id)
    before = await kept(judged)
    await judged.services.deletion.delete_submission(judged.ada.user, submitted.id)
    assert (1, 0) == (before, await kept(judged))


async def test_followers_see_that_it_compiles(judged: World, cluster: Cluster) -> None:
    async with working(cluster.settings(), judged.database.url):
        submitted = await submit(judged)
        ((handle, step),) = await cluster.steps()
        compiled = ProgressEvent(EventKind.COMPILED, verdict=Verdict.ACCEPTED, duration_s=2.0)
        others = ProgressEvent(EventKind.FINISHED), ProgressEvent(EventKind.PHASE_STARTED)
        result = left_of(built(step, PRODUCT))
        cluster.shop.end(
            handle, Outcome(JobState.FINISHED, result, events=(others[0], compiled, others[1]))
        )
        await cluster.judge()
        events = judged.services.submissions.events(judged.ada.user, submitted.id)
        told = [event async for event in events if isinstance(event.kind, EventKind)]
    assert [EventKind.COMPILING, EventKind.COMPILED] == [event.kind for event in told]
    assert 2.0 == told[1].data["duration_s"]
