"""What a node may fetch and tell by the links of its job."""

import asyncio
from dataclasses import dataclass, replace
from urllib.parse import parse_qs, urlsplit

import pytest

from kernelbot.boards.service import BoardEdit
from kernelbot.domain.errors import LinkExpired, NotAllowed, UserError
from kernelbot.protocol import (
    EventKind,
    Fault,
    JobSpec,
    Limits,
    Mode,
    Phase,
    ProgressEvent,
    SamplingRules,
    SandboxMode,
    decode_payload,
)
from kernelbot.protocol.building import Side, build_job, step_id
from kernelbot.runs.builds.service import Begun, Builds, Built, build_of
from kernelbot.runs.claims import Claim
from kernelbot.runs.lifecycle import RunLifecycle, RunRules
from kernelbot.runs.nodes.service import MAX_EVENTS, NodeJobs, SignedLinks, open_links
from kernelbot.runs.nodes.signed_links import Signed
from kernelbot.submissions.model import SubmissionEvent
from tests.fakes.host import result_of
from tests.support.building import product_of
from tests.support.ranked import ranked
from tests.support.world import DEVICES, World

BASE = "https://kernels.example/"
HARNESS = b"a zipapp"


def judge(world: World, *, limits: Limits | None = None, stale_s: float = 30) -> RunLifecycle:
    rules = RunRules(limits or Limits(), SamplingRules(), SandboxMode.NONE, stale_s=stale_s)
    return RunLifecycle(world.database, DEVICES, rules)


def shown(url: str) -> Signed:
    """What a node shows that uses the link."""
    query = parse_qs(urlsplit(url).query)
    job_id = urlsplit(url).path.split("/")[-2]
    return Signed(job_id, int(query["expires"][0]), query["signature"][0])


@dataclass
class Launched:
    """A secret run that was claimed, and its links."""

    world: World
    claim: Claim
    links: SignedLinks
    valid_s: float = 600

    @property
    def jobs(self) -> NodeJobs:
        return self.world.services.node_jobs

    @property
    def payload(self) -> Signed:
        return shown(self.links.for_job(self.claim.spec.job_id, self.valid_s).payload_url)

    @property
    def events(self) -> Signed:
        return shown(self.links.for_job(self.claim.spec.job_id, self.valid_s).events_url)

    async def fetched(self) -> JobSpec:
        return decode_payload(await self.jobs.payload(self.payload))

    async def told(self) -> list[SubmissionEvent]:
        """The events of the submission so far that came from a judge."""
        states = {"queued", "dispatched", "running", "finished"}
        events = self.world.services.submissions.events(
            self.world.admin.user, self.claim.submission_id or 0
        )
        found = []
        async with asyncio.timeout(60):
            async for event in events:
                found.append(event)
                if event.kind == EventKind.PHASE_FINISHED:
                    break
        return [event for event in found if event.kind not in states]


async def claimed(judging: RunLifecycle, owner: str = "w") -> Claim:
    claim = await judging.claim("CPU", owner)
    assert claim is not None
    return claim


@pytest.fixture
async def launched(world: World) -> Launched:
    await world.board()
    await world.submit()
    judging = judge(world)
    public = await claimed(judging)
    await judging.finish(public, "w", result_of(public.spec, ["accepted"]))
    claim = await claimed(judging)
    return Launched(world, claim, await open_links(world.database, BASE, HARNESS))


def case(index: int) -> ProgressEvent:
    return ProgressEvent(EventKind.CASE, phase=Phase.TEST, index=index, total=9)


END = ProgressEvent(EventKind.PHASE_FINISHED, phase=Phase.TEST)


async def test_a_node_fetches_the_very_job_that_was_launched(launched: Launched) -> None:
    assert launched.claim.spec.secret
    assert await launched.fetched() == launched.claim.spec


async def test_what_changes_meanwhile_changes_no_job(launched: Launched) -> None:
    edit = launched.world.services.boards.edit
    await edit(launched.world.admin.user, "sort", BoardEdit(fixed_seed=True))
    assert await launched.fetched() == launched.claim.spec


async def test_whoever_takes_an_attempt_over_has_the_same_job(launched: Launched) -> None:
    await launched.world.services.boards.edit(
        launched.world.admin.user, "sort", BoardEdit(fixed_seed=True)
    )
    other = judge(launched.world, limits=Limits(processes=7), stale_s=0)
    assert (await claimed(other, "another")).spec == launched.claim.spec


async def test_a_job_that_has_ended_is_gone(launched: Launched) -> None:
    await judge(launched.world).lost(launched.claim, "w", "it broke", Fault.PLATFORM)
    for asked in (
        launched.jobs.payload(launched.payload),
        launched.jobs.progressed(launched.events, 0, [case(0)]),
    ):
        with pytest.raises(LinkExpired, match="isn't open any more"):
            await asked


async def test_a_cancelled_job_is_gone(launched: Launched) -> None:
    services = launched.world.services
    await services.submissions.cancel(launched.world.ada.user, launched.claim.submission_id or 0)
    with pytest.raises(LinkExpired):
        await launched.fetched()


async def test_a_finished_attempt_is_never_reopened(launched: Launched) -> None:
    result = result_of(launched.claim.spec, ["accepted", "0.5"])
    await judge(launched.world).finish(launched.claim, "w", result)
    with pytest.raises(LinkExpired):
        await launched.jobs.progressed(launched.events, 0, [case(0), END])
    async with launched.world.database.read() as session:
        row = await session.one(
            "SELECT a.state::text AS attempt, r.state::text AS run, a.terms FROM attempts a"
            " JOIN runs r ON r.id = a.run_id WHERE a.id = %(id)s",
            {"id": launched.claim.attempt_id},
        )
    assert row == {"attempt": "finished", "run": "finished", "terms": None}


async def test_a_link_ends_by_the_databases_clock(launched: Launched) -> None:
    launched.valid_s = -1
    with pytest.raises(LinkExpired, match="valid for a while"):
        await launched.fetched()


@pytest.mark.parametrize(
    "changed",
    [
        {"signature": "0" * 64},
        {"signature": "a'; echo x"},
        {"expires_at": 4_000_000_000},
        {"subject": "1.1.0123456789ab"},
        {"subject": "a'; echo x"},
        {"subject": ""},
    ],
)
async def test_a_link_that_was_changed_opens_nothing(
    launched: Launched, changed: dict[str, str | int]
) -> None:
    with pytest.raises(NotAllowed, match="isn't a link to the payload"):
        await launched.jobs.payload(replace(launched.payload, **changed))  # type: ignore[arg-type]


async def test_a_link_for_events_fetches_nothing(launched: Launched) -> None:
    with pytest.raises(NotAllowed):
        await launched.jobs.payload(launched.events)
    with pytest.raises(NotAllowed):
        await launched.jobs.progressed(launched.payload, 0, [case(0)])


async def test_progress_is_stored_once_and_in_order(launched: Launched) -> None:
    jobs, link = launched.jobs, launched.events
    assert await jobs.progressed(link, 0, [case(0), case(1)]) == 2
    assert await jobs.progressed(link, 0, [case(0), case(1)]) == 2
    assert await jobs.progressed(link, 1, [case(1), case(2)]) == 3
    assert await jobs.progressed(link, 5, [case(5), END]) == 7
    assert await jobs.progressed(link, 0, []) == 7
    told = await launched.told()
    assert [event.data.get("index") for event in told] == [0, 1, 2, 5, None]


async def test_a_batch_that_comes_twice_at_once_counts_once(launched: Launched) -> None:
    batch = [*(case(n) for n in range(5)), END]
    await asyncio.gather(*(launched.jobs.progressed(launched.events, 0, batch) for _ in range(4)))
    assert len(await launched.told()) == 6


async def test_progress_shows_that_a_run_has_begun(launched: Launched) -> None:
    await launched.jobs.progressed(launched.events, 0, [case(0)])
    shown = await launched.world.services.submissions.get(
        launched.world.admin.user, launched.claim.submission_id or 0
    )
    assert [run.state for run in shown.runs if run.id == launched.claim.run_id] == ["running"]


async def test_a_job_tells_of_no_end_of_events(launched: Launched) -> None:
    with pytest.raises(UserError, match="at most"):
        await launched.jobs.progressed(launched.events, MAX_EVENTS, [case(0)])


async def test_links_name_what_they_are_for(launched: Launched) -> None:
    job_id = launched.claim.spec.job_id
    links = launched.links.for_job(job_id, 60)
    assert links.payload_url.startswith(f"https://kernels.example/api/v1/jobs/{job_id}/payload?")
    assert links.events_url.startswith(f"https://kernels.example/api/v1/jobs/{job_id}/events?")
    assert links.harness_url == f"https://kernels.example/api/v1/harness/{links.harness_sha256}"


async def test_two_runs_have_links_of_their_own(launched: Launched) -> None:
    await launched.world.submit(mode=Mode.TEST)
    other = await claimed(judge(launched.world))
    foreign = replace(launched.payload, subject=other.spec.job_id)
    with pytest.raises(NotAllowed):
        await launched.jobs.payload(foreign)


async def test_a_duel_s_job_has_both_sources_and_its_progress_is_nobody_s(world: World) -> None:
    await world.board()
    await ranked(world, 1.0, relative_error=0.1)
    number = await ranked(world, 0.95, relative_error=0.1)
    judging = judge(world)
    claim = await judging.claim("CPU", "w")
    assert claim is not None
    links = await open_links(world.database, BASE, HARNESS)
    duel = Launched(world, claim, links)
    told = await duel.told()
    assert claim.spec == await duel.fetched()
    sources = (claim.spec.submission.text, claim.spec.opponent.text if claim.spec.opponent else "")
    assert ["# 0.95", "# 1.0"] == [source.splitlines()[0] for source in sources]
    event = ProgressEvent(EventKind.PHASE_STARTED, phase=Phase.LEADERBOARD)
    assert 1 == await duel.jobs.progressed(duel.events, 0, [event])
    assert await judging.progressed(claim, "w", [event])
    assert (number, told) == (claim.submission_id, await duel.told())


async def test_a_build_step_has_links_of_its_own(launched: Launched) -> None:
    """It fetches what it may know of the run, which is neither seed nor secrecy; what it tells goes
    to nobody, since its worker tells what matters."""
    run = launched.claim.spec
    subject = step_id(run.job_id, Side.SUBMISSION, 0)
    links = launched.links.for_job(subject, 600)
    step = decode_payload(await launched.jobs.payload(shown(links.payload_url)))
    assert build_job(run, subject, run.device.name) == step
    assert (None, False, True) == (step.seed, step.secret, step.build_only)
    assert 2 == await launched.jobs.progressed(shown(links.events_url), 0, [case(0), END])
    assert 1 == await launched.jobs.progressed(launched.events, 0, [END])
    assert [END.kind] == [event.kind for event in await launched.told()]


async def test_a_link_of_a_build_step_opens_no_run(launched: Launched) -> None:
    subject = step_id(launched.claim.spec.job_id, Side.SUBMISSION, 0)
    link = shown(launched.links.for_job(subject, 600).payload_url)
    with pytest.raises(NotAllowed):
        await launched.jobs.payload(replace(link, subject=launched.claim.spec.job_id))
    opponent = step_id(launched.claim.spec.job_id, Side.OPPONENT, 0)
    with pytest.raises(LinkExpired):  # it is no duel
        await launched.jobs.payload(shown(launched.links.for_job(opponent, 600).payload_url))


async def test_a_node_fetches_what_was_built_as_well(launched: Launched) -> None:
    world, claim = launched.world, launched.claim
    product = product_of(b"a library")
    builds = Builds(world.database, limit_bytes=1 << 20)
    build = build_of(claim.spec, bytes(32), claim.attempt_id)
    assert Begun() == await builds.take(build)
    await builds.keep(build, Built(product))
    carrying = replace(claim, spec=replace(claim.spec, product=product))
    await judge(world).carries(carrying)
    assert carrying.spec == await launched.fetched()
    await Builds(world.database, limit_bytes=0).keep(build, Built(None))  # it is removed for others
    assert claim.spec == await launched.fetched()
