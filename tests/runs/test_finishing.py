"""What the end of a run means beside its verdict."""

from pathlib import Path

import pytest

from kernelbot.moderation.triage import Triage
from kernelbot.protocol import Fault, Mode, Verdict
from kernelbot.runs.lifecycle import RunLifecycle
from tests.fakes.host import result_of, words_of
from tests.support.judging import judging
from tests.support.world import World

_NOTICES_ALL = """\
from kernelbot.drawing.serving import serve
ANSWER = b'{"matched_patterns": [{"pattern": "SEEN", "severity": "low", "evidence": "e"}]}'
serve(lambda request: ANSWER, 1 << 28)
"""
LONG = b"# " + b"x" * 200_000
"""What code is isn't found out of a file of this size when it is submitted, but when it counts."""


async def _judged(world: World, judge: RunLifecycle, mode: Mode, content: bytes) -> int:
    """A submission all whose runs have ended as its first line says."""
    sent = await world.submit(mode=mode, content=content)
    while (claim := await judge.claim("CPU", "w")) is not None:
        assert await judge.finish(claim, "w", result_of(claim.spec, words_of(claim.spec)))
    return sent.id


async def _code_is_known(world: World, submission_id: int) -> bool:
    async with world.database.read() as session:
        row = await session.one(
            "SELECT code_sha256 IS NOT NULL AS known FROM submissions WHERE id = %(id)s",
            {"id": submission_id},
        )
    assert row is not None
    return bool(row["known"])


async def test_only_what_may_be_ranked_is_examined_and_known_again(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "noticing_all.py").write_text(_NOTICES_ALL)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    await world.board()
    found = []
    async with Triage("noticing_all") as triage:
        judge = judging(world, triage=triage)
        for mode, says in (
            (Mode.LEADERBOARD, b"# fake: accepted 1.0\n"),
            (Mode.LEADERBOARD, b"# fake: secret wrong_answer\n"),
            (Mode.BENCHMARK, b"# fake: accepted 2.0\n"),
        ):
            number = await _judged(world, judge, mode, says + LONG)
            shown = await world.services.reviews.get(world.admin.user, number)
            rules = [item.rule for item in shown.evidence]
            found.append((rules, await _code_is_known(world, number)))
    assert [(["SEEN"], True), ([], False), ([], False)] == found


async def test_what_its_code_is_stays_known_once_its_tests_have_passed(world: World) -> None:
    await world.board()
    sent = await world.submit()
    judge = judging(world)
    claim = await judge.claim("CPU", "w")
    assert claim is not None
    assert await judge.finish(claim, "w", result_of(claim.spec, ["accepted"]))
    assert await _code_is_known(world, sent.id)


@pytest.mark.parametrize(
    ("says", "verdicts"),
    [
        ("accepted", [Verdict.ACCEPTED, Verdict.ACCEPTED]),
        ("wrong_answer", [Verdict.WRONG_ANSWER]),
    ],
)
async def test_what_a_node_judged_next_counts_if_the_tests_passed(
    world: World, says: str, verdicts: list[Verdict]
) -> None:
    await world.board(devices=("H100",))
    sent = await world.submit()
    judge = judging(world)
    claim = await judge.claim("H100", "w", goes_on=("local",))
    assert claim is not None
    assert claim.spec.next_job is not None
    result, following = result_of(claim.spec, [says]), result_of(claim.spec.next_job, ["accepted"])
    assert await judge.finish(claim, "w", result, next_result=following)
    shown = await world.services.submissions.get(world.ada.user, sent.id)
    assert verdicts == [run.verdict for run in shown.runs]


async def test_who_follows_a_ranked_submission_is_told_that_its_secret_run_waits(
    world: World,
) -> None:
    await world.board()
    sent = await world.submit()
    judge = judging(world)
    claim = await judge.claim("CPU", "w")
    assert claim is not None
    assert await judge.finish(claim, "w", result_of(claim.spec, ["accepted"]))
    async with world.database.read() as session:
        rows = await session.all(
            "SELECT r.secret, e.kind FROM events e JOIN runs r ON r.id = e.run_id"
            " WHERE e.submission_id = %(id)s ORDER BY e.id",
            {"id": sent.id},
        )
    assert (True, "queued") == tuple(rows[-1].values())


@pytest.mark.parametrize("fault", [Fault.PLATFORM, Fault.SCHEDULER])
async def test_an_attempt_that_does_not_count_begins_no_pause(world: World, fault: Fault) -> None:
    await world.board()
    await world.submit(mode=Mode.TEST)
    judge = judging(world)
    taken = set()
    for _ in range(3):
        claim = await judge.claim("CPU", "w")
        assert claim is not None
        taken.add(claim.run_id)
        assert await judge.lost(claim, "w", "the scheduler is gone", fault, counts=False)
    assert 1 == len(taken)
