"""Held submissions, and deciding about them."""

import pytest

from kernelbot.domain.states import ReviewState
from kernelbot.moderation.reviews import service as reviews
from kernelbot.moderation.reviews import store
from kernelbot.moderation.reviews.model import Evidence
from tests.support.office import Office
from tests.support.ranked import ranked

HOSTILE = "<script>alert(1)</script>\u202e" + "x" * 5000


@pytest.fixture
async def held(office: Office) -> int:
    """The number of ada's submission, which is held with hostile evidence."""
    world = office.front.world
    number = await ranked(world, 1e-3)
    async with world.database.write() as session:
        await reviews.hold_if_suspicious(session, number, ("Its clock ran backwards.",))
        found = Evidence("tool", "<b>RULE</b>", "high", HOSTILE)
        await store.add_evidence(session, number, [found])
    return number


async def review_of(office: Office, number: int) -> ReviewState:
    found = await office.front.world.services.submissions.get(office.front.world.ada.user, number)
    return found.review


@pytest.mark.exhaustive  # each run has test_a_decision_needs_a_reason
async def test_what_is_held_is_shown_with_evidence_and_code(office: Office, held: int) -> None:
    listed = (await office.maker.get("/organise/held")).text
    shown = (await office.maker.get(f"/organise/submission/{held}")).text
    assert f'href="/organise/submission/{held}"' in listed
    words = ["Its clock ran backwards.", "&lt;b&gt;RULE&lt;/b&gt;", "# 0.001", 'id="L1"', "Release"]
    assert [] == [word for word in words if word not in shown]
    assert (False, False) == ("<script>alert" in shown, "\u202e" in shown)


@pytest.mark.parametrize(
    ("action", "state"), [("release", ReviewState.CLEAR), ("refuse", ReviewState.REFUSED)]
)
async def test_a_decision_is_made_once(
    office: Office, held: int, action: str, state: ReviewState
) -> None:
    path = f"/organise/submission/{held}/{action}"
    answers = [await office.post(path, reason="I read it.") for _ in range(2)]
    log = await office.front.world.services.audit.list_entries(
        office.front.world.admin.user, subject=f"submission:{held}"
    )
    assert ([303, 409], state) == (
        [one.status_code for one in answers],
        await review_of(office, held),
    )
    assert [f"submission.{action}"] == [entry.action for entry in log]


@pytest.mark.parametrize("reason", ["", "   ", "x" * 2001])
async def test_a_decision_needs_a_reason(office: Office, held: int, reason: str) -> None:
    answer = await office.post(f"/organise/submission/{held}/release", reason=reason)
    assert (400, ReviewState.HELD) == (answer.status_code, await review_of(office, held))


async def test_others_neither_see_nor_decide(office: Office, held: int) -> None:
    front, path = office.front, f"/organise/submission/{held}"
    seen = [(await one.get(path)).status_code for one in (front.stranger, front.ada, front.admin)]
    answers = [
        await office.post(f"{path}/release", front.ada, reason="mine"),
        await office.post(f"{path}/delete", front.bob, number=str(held)),
        await office.maker.post(f"{path}/release", data={"reason": "x", "csrf": "0" * 64}),
    ]
    assert ([303, 403, 200], [403] * 3) == (seen, [one.status_code for one in answers])
    assert ReviewState.HELD == await review_of(office, held)


async def test_a_creator_decides_nothing_about_boards_of_others(office: Office) -> None:
    number = (await office.front.world.submit(board="other")).id
    path = f"/organise/submission/{number}"
    answers = [await office.maker.get(path), await office.post(f"{path}/refuse", reason="x")]
    assert [403, 403] == [one.status_code for one in answers]


async def test_a_submission_is_deleted_if_its_number_is_typed(office: Office, held: int) -> None:
    path = f"/organise/submission/{held}"
    wrong = await office.post(f"{path}/delete", number="7'; echo x")
    answers = [await office.post(f"{path}/delete", number=f" {held} ") for _ in range(2)]
    assert (400, [303, 404]) == (wrong.status_code, [one.status_code for one in answers])


NUMBERS = [(10**18, 404), (10**30, 422), (0, 422), ("x", 422)]


async def test_a_number_from_nowhere_is_a_page(office: Office) -> None:
    answers = [(await office.maker.get(f"/organise/submission/{query}")) for query, _ in NUMBERS]
    assert [status for _, status in NUMBERS] == [one.status_code for one in answers]
    assert [] == [one.url for one in answers if "<script>" in one.text]
