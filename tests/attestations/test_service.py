"""What is signed of a submission, for whom, and by which key."""

import asyncio
import base64
import json
from collections.abc import AsyncIterator

import pytest

from kernelbot.accounts.model import User
from kernelbot.attestations.answers import SignedDocument
from kernelbot.attestations.schemas import HarnessIdentity
from kernelbot.attestations.service import Attestations
from kernelbot.boards.problem_hashes import problem_hashes
from kernelbot.boards.service import BoardEdit
from kernelbot.client.documents import VerifiedDocument, verify
from kernelbot.domain.errors import Conflict, NotAllowed, NotFound
from kernelbot.protocol import HarnessKind, Verdict
from kernelbot.schemas.values import plain, to_json
from tests.fakes.host import VERSION
from tests.support.judging import judged_at_once
from tests.support.problems import sort_problem
from tests.support.workers import finished
from tests.support.world import World

CODE = b"# fake: accepted 0.5 0.4 0.6\n"


@pytest.fixture
async def judging(world: World) -> AsyncIterator[None]:
    await world.board()
    async with judged_at_once(world):
        yield


async def judged(world: World, content: bytes = CODE) -> int:
    sent = await world.submit(content=content)
    await finished(world, sent.id)
    return sent.id


async def signed(world: World, number: int, viewer: User | None = None) -> VerifiedDocument:
    document = await world.services.extension(Attestations).for_submission(
        viewer or world.ada.user, number
    )
    return verify(to_json(SignedDocument, document))


# Each run has test_samples_of_secret_data_are_in_a_document_without_the_data
@pytest.mark.exhaustive
@pytest.mark.usefixtures("judging")
async def test_a_document_says_what_was_judged_and_by_what(world: World) -> None:
    result = (await signed(world, await judged(world))).result
    public, secret = result.runs
    hashes = problem_hashes(sort_problem("sort"))
    assert (hashes.content.hex(), hashes.judging.hex()) == (
        secret.problem.content_sha256,
        secret.problem.judging_sha256,
    )
    assert (0.5, (0.4, 0.6), "fake") == (secret.score_s, secret.score_ci95_s, secret.system.cpu)
    assert HarnessIdentity(kind=HarnessKind.NATIVE, version=VERSION, sha256=None) == secret.harness
    assert [[], [[5e8, 4e8, 6e8]]] == [
        [load.samples_ns for load in run.workloads] for run in (public, secret)
    ]


@pytest.mark.usefixtures("judging")
@pytest.mark.parametrize("admins", [False, True])
async def test_samples_of_secret_data_are_in_a_document_without_the_data(
    world: World, admins: bool
) -> None:
    number = await judged(world)
    viewer = world.admin.user if admins else world.ada.user
    found = await signed(world, number, viewer)
    secret = found.result.runs[1]
    assert (True, False) == (secret.secret, secret.samples_withheld)
    assert [(None, [5e8, 4e8, 6e8])] == [(load.spec, load.samples_ns) for load in secret.workloads]
    assert [("no_score", 0), ("equal", 3)] == [
        (check.outcome, check.samples) for check in found.checks
    ]


@pytest.mark.usefixtures("judging")
async def test_samples_of_data_that_comes_again_are_for_admins_only(world: World) -> None:
    number = await judged(world)
    await world.services.boards.edit(world.admin.user, "sort", BoardEdit(fixed_seed=True))
    authors = (await signed(world, number)).result.runs[1]
    admins = (await signed(world, number, world.admin.user)).result.runs[1]
    downloaded = await world.services.submissions.measured(world.ada.user, number)
    assert ([], True) == (authors.workloads, authors.samples_withheld)
    assert ([3], False) == (
        [len(load.samples_ns) for load in admins.workloads],
        admins.samples_withheld,
    )
    assert [] == downloaded


# Each run has test_samples_of_secret_data_are_in_a_document_without_the_data
@pytest.mark.exhaustive
@pytest.mark.usefixtures("judging")
async def test_samples_of_a_shared_seed_stay_so_when_others_have_fresh_ones(world: World) -> None:
    """The board may share its seed again, and that is the same one."""
    numbers = []
    for shared in (True, False):
        edit = BoardEdit(fixed_seed=shared)
        await world.services.boards.edit(world.admin.user, "sort", edit)
        numbers.append(await judged(world, CODE + f"# {shared}\n".encode()))
    signed_runs = [(await signed(world, number)).result.runs[1] for number in numbers]
    downloaded = [
        await world.services.submissions.measured(world.ada.user, number) for number in numbers
    ]
    assert [(True, 0), (False, 1)] == [
        (run.samples_withheld, len(run.workloads)) for run in signed_runs
    ]
    assert [False, True] == [bool(loads) for loads in downloaded]


@pytest.mark.usefixtures("judging")
async def test_how_a_secret_run_failed_is_not_told_to_anybody(world: World) -> None:
    number = await judged(world, b"# fake: secret runtime_error\n")
    found = (await signed(world, number, world.admin.user)).result
    assert {False: Verdict.ACCEPTED, True: Verdict.WRONG_ANSWER} == {
        run.secret: run.verdict for run in found.runs
    }


@pytest.mark.usefixtures("judging")
async def test_it_is_for_those_who_may_see_the_submission(world: World) -> None:
    number = await judged(world)
    with pytest.raises(NotAllowed):
        await signed(world, number, world.bob.user)
    with pytest.raises(NotFound):
        await signed(world, 2**80)


async def test_what_waits_is_not_signed(world: World) -> None:
    await world.board()
    number = (await world.submit()).id
    with pytest.raises(Conflict, match="is queued"):
        await signed(world, number)
    assert [] == await world.services.extension(Attestations).keys()


@pytest.mark.usefixtures("judging")
async def test_one_key_signs_however_many_ask_first(world: World) -> None:
    number = await judged(world)
    found = await asyncio.gather(*(signed(world, number) for _ in range(8)))
    (key,) = await world.services.extension(Attestations).keys()
    assert {key.key_id} == {one.key_id for one in found}


@pytest.mark.usefixtures("judging")
async def test_a_replaced_key_stays_known_and_cannot_sign(world: World) -> None:
    number = await judged(world)
    before = await signed(world, number)
    with pytest.raises(NotAllowed):
        await world.services.extension(Attestations).replace_key(world.ada.user)
    new, old = await world.services.extension(Attestations).replace_key(world.admin.user)
    after = await signed(world, number)
    assert (before.key_id, after.key_id) == (old.key_id, new.key_id)
    assert (None, False) == (new.retired_at, old.retired_at is None)
    async with world.database.read() as session:
        rows = await session.all(
            "SELECT private_key FROM signing_keys WHERE retired_at > '1970-1-1'"
        )
    assert [None] == [row["private_key"] for row in rows]


@pytest.mark.usefixtures("judging")
async def test_the_private_key_is_in_no_answer(world: World) -> None:
    document = await world.services.extension(Attestations).for_submission(
        world.ada.user, await judged(world)
    )
    async with world.database.read() as session:
        row = await session.one("SELECT private_key FROM signing_keys")
    assert row is not None
    told = json.dumps([plain(document), base64.b64decode(document.payload).decode()])
    private = bytes(row["private_key"])
    assert [] == [t for t in (private.hex(), base64.b64encode(private).decode()) if t in told]
