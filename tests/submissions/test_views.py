"""What an author sees of a run on secret data."""

import pytest

from kernelbot.protocol import Fault, Verdict
from kernelbot.submissions.views import (
    FAILED_UNSEEN,
    REFUSED_UNSEEN,
    UNJUDGED_UNSEEN,
    shown_of_secret,
)
from tests.support.ranked import ranked
from tests.support.world import World


@pytest.mark.parametrize(
    "verdict", [v for v in Verdict if v not in (Verdict.ACCEPTED, Verdict.RULE_VIOLATION)]
)
def test_a_way_of_failing_stays_secret(verdict: Verdict) -> None:
    assert (Verdict.WRONG_ANSWER, FAILED_UNSEEN) == shown_of_secret(verdict)


@pytest.mark.parametrize("verdict", [Verdict.RULE_VIOLATION, "rule_violation"])
def test_the_rules_are_named_when_they_refuse(verdict: str) -> None:
    assert (Verdict.RULE_VIOLATION, REFUSED_UNSEEN) == shown_of_secret(verdict)


@pytest.mark.parametrize("secret", [False, True])
async def test_sql_tells_of_a_verdict_what_python_does(world: World, secret: bool) -> None:
    async with world.database.read() as session:
        for verdict in Verdict:
            for fault in (*Fault, None):
                row = await session.one(
                    "SELECT shown_verdict(%(secret)s, %(fault)s, %(verdict)s) AS shown",
                    {"secret": secret, "fault": fault, "verdict": verdict},
                )
                masked = secret and fault is Fault.AUTHOR
                expected = shown_of_secret(verdict)[0] if masked else verdict
                assert row == {"shown": expected}


async def test_what_the_problems_code_complained_of_stays_secret(world: World) -> None:
    """It may hold values of the secret data."""
    await world.board()
    sent = await world.submit()
    async with world.database.write() as session:
        await session.do("UPDATE runs SET state = 'dispatched'")
        await session.do(
            "UPDATE runs SET state = 'finished', finished_at = now(), verdict = 'internal_error',"
            " fault = 'platform', message = 'expected 7, not 5'"
        )
    found = await world.services.submissions.get(world.ada.user, sent.id)
    told = {run.secret: run.message for run in found.runs}
    assert {False: "expected 7, not 5", True: UNJUDGED_UNSEEN} == told
    found = await world.services.submissions.get(world.admin.user, sent.id)
    assert {"expected 7, not 5"} == {run.message for run in found.runs}


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ('{"reason": "expected 7, not 5"}', {}),
        (
            '{"reason": "the machine was busy", "repeats": 1}',
            {"reason": "the machine was busy", "repeats": 1},
        ),
    ],
)
async def test_an_event_tells_why_a_secret_run_is_repeated_and_not_why_it_was_lost(
    world: World, data: str, expected: dict[str, object]
) -> None:
    await world.board()
    sent = await world.submit()
    async with world.database.write() as session:
        await session.do(
            "INSERT INTO events (submission_id, id, run_id, kind, data)"
            " SELECT submission_id, 90, id, 'queued', %(data)s FROM runs WHERE secret",
            {"data": data},
        )
        await session.do("UPDATE runs SET state = 'cancelled', finished_at = now()")
    told = world.services.submissions.events(world.ada.user, sent.id)
    assert expected in [one.data async for one in told if one.secret and one.kind == "queued"]


@pytest.mark.parametrize(("best", "other"), [("CPU", "H100"), ("H100", "CPU")])
async def test_the_place_is_that_of_the_device_of_the_score(
    world: World, best: str, other: str
) -> None:
    await world.board(devices=("CPU", "H100"))
    await ranked(world, 1.0, author=world.bob.user, device=other)
    sent = await world.submit(content=b"# mine\n", devices=("CPU", "H100"))
    async with world.database.write() as session:
        await session.do(f"UPDATE runs SET state = 'dispatched' WHERE submission_id = {sent.id}")
        for device, score_s in ((best, 0.5), (other, 2.0)):
            await session.do(
                "UPDATE runs SET state = 'finished', verdict = 'accepted', finished_at = now(),"
                " score_s = %(score_s)s, ci_low_s = %(score_s)s, ci_high_s = %(score_s)s"
                " WHERE submission_id = %(id)s AND device = %(device)s",
                {"id": sent.id, "device": device, "score_s": score_s},
            )
            await session.one(
                "SELECT refresh_standing(leaderboard_id, %(device)s, author_id) FROM submissions"
                " WHERE id = %(id)s",
                {"id": sent.id, "device": device},
            )
    found = await world.services.submissions.get(world.ada.user, sent.id)
    assert (0.5, 1) == (found.score_s, found.place)
