"""What an author sees of a run on secret data."""

import pytest

from kernelbot.protocol import Fault, Verdict
from kernelbot.services.views import (
    FAILED_UNSEEN,
    REFUSED_UNSEEN,
    UNJUDGED_UNSEEN,
    shown_of_secret,
)
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
