import asyncio
from datetime import UTC, datetime
from pathlib import Path

import psycopg
import pytest

from kernelbot.accounts.model import Role, User
from kernelbot.boards.service import BoardEdit
from kernelbot.domain.errors import Conflict, NotAllowed, NotFound, UserError
from kernelbot.domain.states import REVIEW_TRANSITIONS, ReviewState, SubmissionState
from kernelbot.moderation.reviews.model import CheckedScore, Evidence, ReviewRules
from kernelbot.moderation.reviews.service import (
    hold_if_absurd,
    hold_if_suspicious,
    keep_findings,
)
from kernelbot.protocol import Verdict
from kernelbot.server.tables import DeviceSettings
from kernelbot.submissions.model import Submission
from tests.fakes.host import result_of
from tests.support.judging import judged_at_once, judging
from tests.support.postgres import WAITS_FOR_A_LOCK, until_there_is
from tests.support.ranked import ranked
from tests.support.workers import finished, quick_settings, working
from tests.support.world import World

pytestmark = pytest.mark.each_run(
    "test_what_the_judge_noticed_is_held",
    "test_what_is_released_takes_its_place",
    "test_an_author_reads_why_they_were_refused",
    "test_a_ranked_submission_can_be_refused",
    "test_only_organisers_decide",
    "test_a_decision_needs_a_reason",
)


async def _judged(world: World, *scores: tuple[User, float]) -> list[Submission]:
    """Submissions with these scores, judged one after the other."""
    done = []
    async with judged_at_once(world):
        for author, score in scores:
            sent = await world.submit(author, content=f"# fake: accepted {score}\n".encode())
            done.append(await finished(world, sent.id))
    return done


async def _held(world: World) -> int:
    await world.board()
    ada, bob = world.ada.user, world.bob.user
    _, absurd = await _judged(world, (ada, 1.0), (bob, 0.01))
    return absurd.id


async def _ranked(world: World, device: str) -> list[str]:
    page = await world.services.standings.page(None, "sort", device)
    return [row.author for row in page.standings]


async def test_an_absurd_speed_up_is_held(world: World) -> None:
    number = await _held(world)
    shown = await world.services.submissions.get(world.bob.user, number)
    assert (SubmissionState.HELD, Verdict.ACCEPTED, None) == (
        shown.state,
        shown.verdict,
        shown.place,
    )
    assert "100 times faster" in (shown.review_reason or "")


async def test_what_a_rejudge_shows_is_held_as_well(world: World) -> None:
    await world.board()
    _, other = await _judged(world, (world.ada.user, 1.0), (world.bob.user, 0.9))
    await world.services.rejudging.start(world.admin.user, "sort", top=None)
    judge = judging(world)
    while (claim := await judge.claim("CPU", "w")) is not None:
        assert await judge.launched(claim, "w", "handle")
        score = "0.01" if "0.9" in claim.spec.submission.text else "1.0"
        assert await judge.finish(claim, "w", result_of(claim.spec, ["accepted", score]))
    (held,) = await world.services.reviews.held(world.admin.user)
    assert (other.id, ["ada"]) == (held.id, await _ranked(world, "CPU"))


async def test_what_is_held_is_not_ranked(world: World) -> None:
    await _held(world)
    page = await world.services.standings.page(None, "sort", None)
    assert [row.author for row in page.standings] == ["ada"]


async def test_what_is_held_for_one_device_leaves_the_ranking_of_another(
    world: World, tmp_path: Path
) -> None:
    await world.board(devices=("CPU", "H100"))
    cpu = quick_settings(tmp_path)
    both = cpu.model_copy(update={"devices": (*cpu.devices, DeviceSettings(name="H100"))})
    async with working(cpu, world.database.url):
        slow = await world.submit(content=b"# fake: accepted 1.0\n", devices=("CPU",))
        await finished(world, slow.id)
        sent = await world.submit(
            world.bob.user, content=b"# fake: accepted 0.09\n", devices=("CPU", "H100")
        )
        while await _ranked(world, "CPU") != ["bob", "ada"]:  # noqa: ASYNC110  # no event for it
            await asyncio.sleep(0.05)
    slower = await world.submit(content=b"# fake: accepted 9.0\n", devices=("H100",))
    async with working(both, world.database.url):
        await finished(world, slower.id)
        held = await finished(world, sent.id)
    assert SubmissionState.HELD is held.state
    assert ["ada"] == await _ranked(world, "CPU")


async def test_a_great_speed_up_is_not_held(world: World) -> None:
    await world.board()
    ada, bob = world.ada.user, world.bob.user
    _, great = await _judged(world, (ada, 1.0), (bob, 0.05))
    assert (SubmissionState.FINISHED, 1) == (great.state, great.place)


@pytest.mark.parametrize(
    ("hold_speedup", "score_s", "held"),
    [(None, 0.4, False), (2.0, 0.4, True), (2.0, 0.5, False)],
)
async def test_how_great_it_has_to_be_is_configured(
    world: World, hold_speedup: float | None, score_s: float, held: bool
) -> None:
    board = await world.board()
    _, other = await _judged(world, (world.ada.user, 1.0), (world.bob.user, 0.4))
    scored = CheckedScore(other.id, board.id, "CPU", world.bob.user.id, score_s)
    async with world.database.write() as session:
        found = await hold_if_absurd(session, scored, ReviewRules(hold_speedup=hold_speedup))
    assert held is found


async def test_the_first_score_of_a_board_is_not_held(world: World) -> None:
    await world.board()
    (first,) = await _judged(world, (world.ada.user, 1e-9))
    assert first.state is SubmissionState.FINISHED


async def test_a_ladder_of_small_steps_is_held(world: World) -> None:
    """Row 68: each step is 10 times better than the one before."""
    await world.board()
    ada, bob = world.ada.user, world.bob.user
    steps = await _judged(world, (ada, 1.0), (bob, 1.0), (bob, 0.1), (bob, 0.01))
    assert [SubmissionState.FINISHED] * 3 + [SubmissionState.HELD] == [s.state for s in steps]
    assert "100 times faster than the best of the others" in (steps[-1].review_reason or "")


async def test_an_authors_own_first_try_says_nothing(world: World) -> None:
    """Loops first and NumPy second is no reason to wait for an organiser."""
    await world.board()
    ada = world.ada.user
    steps = await _judged(world, (ada, 1.0), (ada, 0.01))
    assert [SubmissionState.FINISHED] * 2 == [step.state for step in steps]


async def test_what_was_released_is_trusted_from_then_on(world: World) -> None:
    number = await _held(world)
    await world.services.reviews.release(world.admin.user, number, "read it: honest")
    (next_step,) = await _judged(world, (world.bob.user, 0.005))
    assert (SubmissionState.FINISHED, 1) == (next_step.state, next_step.place)


async def test_what_the_judge_noticed_is_held(world: World, tmp_path: Path) -> None:
    await world.board()
    async with working(quick_settings(tmp_path), world.database.url):
        sent = await world.submit(content=b"# fake: accepted 1.0 suspicious\n")
        await finished(world, sent.id)
    (held,) = await world.services.reviews.held(world.admin.user)
    assert ("harness", "SUSPICIOUS_RESULT", "Its claims spread less than the clock.") == (
        held.evidence[0].source,
        held.evidence[0].rule,
        held.evidence[0].detail,
    )


async def test_of_many_long_suspicions_some_are_kept_in_part(world: World) -> None:
    await world.board()
    sent = await world.submit()
    async with world.database.write() as session:
        said = tuple(f"{number:02} {'x' * 998}" for number in range(51))
        await hold_if_suspicious(session, sent.id, said)
    (held,) = await world.services.reviews.held(world.admin.user)
    assert [1000] * 50 == [len(one.detail) for one in held.evidence]


async def test_organisers_see_what_is_held_and_why(world: World) -> None:
    number = await _held(world)
    (held,) = await world.services.reviews.held(world.admin.user, board="SORT")
    assert (number, "ABSURD_SPEEDUP") == (held.id, held.evidence[0].rule)


async def test_competitors_have_nothing_to_decide(world: World) -> None:
    await _held(world)
    assert await world.services.reviews.held(world.bob.user) == []


async def test_authors_see_no_evidence(world: World) -> None:
    number = await _held(world)
    shown = await world.services.submissions.get(world.bob.user, number)
    assert shown.evidence == ()


async def test_what_is_released_takes_its_place(world: World) -> None:
    number = await _held(world)
    shown = await world.services.reviews.release(world.admin.user, number, "read it: honest")
    assert (SubmissionState.FINISHED, 1, None) == (shown.state, shown.place, shown.review_reason)


async def test_an_author_reads_why_they_were_refused(world: World) -> None:
    number = await _held(world)
    await world.services.reviews.refuse(world.admin.user, number, "it returns the last output")
    shown = await world.services.submissions.get(world.bob.user, number)
    assert (Verdict.RULE_VIOLATION, "it returns the last output") == (
        shown.verdict,
        shown.review_reason,
    )


async def test_a_ranked_submission_can_be_refused(world: World) -> None:
    await world.board()
    (first,) = await _judged(world, (world.ada.user, 1.0))
    await world.services.reviews.refuse(world.admin.user, first.id, "copied from bob")
    page = await world.services.standings.page(None, "sort", None)
    assert page.standings == ()


async def test_decisions_are_in_the_audit_log(world: World) -> None:
    number = await _held(world)
    await world.services.reviews.refuse(world.admin.user, number, "a'; DROP TABLE audit_log")
    with psycopg.connect(world.database.url) as connection:
        rows = connection.execute(
            "SELECT actor, action, subject, detail ->> 'reason' FROM audit_log"
        ).fetchall()
    assert rows == [
        ("root", "board.create", "board:sort", None),
        ("root", "submission.refuse", f"submission:{number}", "a'; DROP TABLE audit_log"),
    ]


async def test_only_organisers_decide(world: World) -> None:
    number = await _held(world)
    other = (await world.services.users.create("eve", Role.CREATOR)).user
    for someone in (world.bob.user, other):
        with pytest.raises(NotAllowed):
            await world.services.reviews.release(someone, number, "please")


async def test_the_boards_maker_decides(world: World) -> None:
    number = await _held(world)
    carl = (await world.services.users.create("carl", Role.CREATOR)).user
    with psycopg.connect(world.database.url) as connection:
        connection.execute("UPDATE leaderboards SET creator_id = %s", (carl.id,))
    refused = await world.services.reviews.refuse(carl, number, "copied")
    released = await world.services.reviews.release(carl, number, "he wrote it")
    assert (ReviewState.REFUSED, 1) == (refused.review, released.place)


async def test_a_decision_needs_a_reason(world: World) -> None:
    number = await _held(world)
    with pytest.raises(UserError, match="reason"):
        await world.services.reviews.release(world.admin.user, number, " \n")


async def test_a_reason_has_2000_characters_at_most(world: World) -> None:
    number = await _held(world)
    refuse, admin = world.services.reviews.refuse, world.admin.user
    with pytest.raises(UserError, match="a reason of 1 to 2000 characters"):
        await refuse(admin, number, "x" * 2001)
    assert "x" * 2000 == (await refuse(admin, number, "x" * 2000)).review_reason


async def test_of_what_is_deleted_meanwhile_nothing_is_decided(world: World) -> None:
    number = await _held(world)
    with psycopg.connect(world.database.url) as other:
        other.execute("DELETE FROM submissions WHERE id = %s", (number,))
        refusing = asyncio.create_task(
            world.services.reviews.refuse(world.admin.user, number, "copied")
        )
        async with world.database.read() as session:
            await until_there_is(session, WAITS_FOR_A_LOCK)
    with pytest.raises(NotFound, match=f"no submission {number}"):
        await refusing


async def test_what_is_deleted_meanwhile_is_held_no_more(world: World) -> None:
    number = await _held(world)
    reviews, admin = world.services.reviews, world.admin.user
    with psycopg.connect(world.database.url) as other:
        other.execute("LOCK TABLE evidence")  # what is read next
        reading = [
            asyncio.create_task(reviews.held(admin)),
            asyncio.create_task(reviews.get(admin, number)),
        ]
        async with world.database.read() as session:
            await until_there_is(session, f"{WAITS_FOR_A_LOCK} OFFSET 1")
        other.execute("DELETE FROM submissions WHERE id = %s", (number,))
    assert [] == await reading[0]
    with pytest.raises(NotFound, match=f"no submission {number}"):
        await reading[1]


async def test_what_is_not_held_cant_be_released(world: World) -> None:
    await world.board()
    sent = await world.submit()
    with pytest.raises(Conflict, match="neither held nor refused"):
        await world.services.reviews.release(world.admin.user, sent.id, "why not")


@pytest.mark.parametrize("number", [0, -1, 77, 2**63])
async def test_what_isnt_there_cant_be_refused(world: World, number: int) -> None:
    with pytest.raises(NotFound):
        await world.services.reviews.refuse(world.admin.user, number, "it isn't there")


def test_review_transitions_are_the_same_in_sql(database_url: str) -> None:
    with psycopg.connect(database_url) as connection:
        rows = connection.execute("SELECT before, after FROM review_transitions").fetchall()
    allowed = {
        (before.value, after.value)
        for before in ReviewState
        for after in REVIEW_TRANSITIONS[before]
    }
    assert allowed == set(rows)


async def test_who_may_merely_read_the_code_is_not_told_why_it_was_refused(world: World) -> None:
    await world.board()
    sent = await world.submit()
    await world.services.submissions.cancel(world.ada.user, sent.id)
    await world.services.reviews.refuse(world.admin.user, sent.id, "copied from bob")
    ended = BoardEdit(deadline=datetime(2026, 1, 1, tzinfo=UTC), reveal_code=True)
    await world.services.boards.edit(world.admin.user, "sort", ended)
    get = world.services.submissions.get
    people = (world.ada.user, world.admin.user, world.bob.user)
    assert ["copied from bob", "copied from bob", None] == [
        (await get(person, sent.id)).review_reason for person in people
    ]


async def test_a_finding_refuses_if_its_rule_was_chosen(world: World) -> None:
    await world.board()
    number = await ranked(world, 1.0)
    found = (Evidence("tool", "A", "low", "a"), Evidence("tool", "B", "high", "b"))
    shown = []
    for chosen in (("C",), ("B", "C")):
        async with world.database.write() as session:
            await keep_findings(session, number, found, ReviewRules(refuse_rules=chosen))
        one = await world.services.reviews.get(world.admin.user, number)
        shown.append((one.review, one.review_reason, await _ranked(world, "CPU")))
    assert [
        (ReviewState.CLEAR, None, ["ada"]),
        (ReviewState.REFUSED, "The rule B forbids it here: b", []),
    ] == shown
    assert ["A", "B"] == [item.rule for item in one.evidence[:2]]


async def test_what_was_decided_is_decided_once(world: World) -> None:
    await world.board()
    number = await ranked(world, 1.0)
    refuse = world.services.reviews.refuse
    await refuse(world.admin.user, number, "copied")
    with pytest.raises(Conflict, match=f"^Submission {number} is refused already.$"):
        await refuse(world.admin.user, number, "copied")


async def test_what_waits_for_a_decision_is_listed_from_the_oldest_on(world: World) -> None:
    await world.board()
    sent = [await world.submit(), await world.submit(world.bob.user)]
    async with world.database.write() as session:
        for one in reversed(sent):
            await hold_if_suspicious(session, one.id, ("odd",))
    held, admin = world.services.reviews.held, world.admin.user
    assert [one.id for one in sent] == [one.id for one in await held(admin)]
    assert [sent[0].id] == [one.id for one in await held(admin, limit=1)]
    assert [[], [], 2] == [
        await held(admin, board="other"),
        await held(admin, board="\x00"),
        len(await held(admin, board="sort")),
    ]


async def test_code_and_evidence_are_for_organisers(world: World) -> None:
    await world.board()
    sent = await world.submit()
    with pytest.raises(NotAllowed):
        await world.services.reviews.get(world.ada.user, sent.id)
    assert sent.code == (await world.services.reviews.get(world.admin.user, sent.id)).code
