"""What is dueled, what a duel decides, and what happens if it can't be done."""

from dataclasses import replace

import psycopg
import pytest

from kernelbot.duels.dueling import configure, enqueue
from kernelbot.duels.model import DUEL_TRANSITIONS, DuelReason, DuelState
from kernelbot.protocol import DuelResult, Failure, Fault, Mode, RunResult, Verdict
from kernelbot.ranking.model import NotRanked, NotRankedReason
from kernelbot.runs.claims import Claim
from kernelbot.runs.lifecycle import RunLifecycle
from tests.fakes.host import result_of
from tests.support.duels import FASTER, SAME, SLOWER, WIDE, all_duels, neighbours, two_of_ada
from tests.support.judging import begun_duel, end_duel, fought, judging, show
from tests.support.ranked import ranked
from tests.support.world import World

SAID = "The data of timed calls recurs (seed: 7)"


async def _ranking(world: World) -> list[tuple[int, str, int]]:
    page = await world.services.standings.page(None, "sort", None)
    return [(row.rank, row.author, row.submission_id) for row in page.standings]


async def _why(world: World, submission_id: int) -> NotRanked | None:
    shown = await world.services.submissions.get(world.ada.user, submission_id)
    return shown.not_ranked


async def test_what_is_below_but_too_close_waits_for_a_duel(world: World) -> None:
    first, second = await two_of_ada(world)
    assert [(1, "ada", first)] == await _ranking(world)
    assert NotRanked.because(NotRankedReason.DUEL_WAITS, first) == await _why(world, second)


async def test_its_job_has_both_sources_and_a_secret_seed(world: World) -> None:
    await two_of_ada(world)
    claim = await begun_duel(judging(world))
    job = claim.spec
    sources = (job.submission.text, job.opponent.text if job.opponent else "")
    assert ["# 0.95", "# 1.0"] == [source.splitlines()[0] for source in sources]
    assert (Mode.LEADERBOARD, True, True) == (job.mode, job.secret, job.seed is not None)


async def test_the_winner_stands(world: World) -> None:
    first, second = await two_of_ada(world)
    await fought(world, FASTER)
    assert [(1, "ada", second)] == await _ranking(world)
    assert NotRanked.because(NotRankedReason.SUPERSEDED, second) == await _why(world, first)


@pytest.mark.exhaustive  # each run has test_its_job_has_both_sources_and_a_secret_seed
async def test_who_wins_once_has_to_win_again(world: World) -> None:
    """Before all others, alone and with other data: what one process gained by its place in memory,
    the next one loses."""
    first, second = await two_of_ada(world)
    judge = judging(world)
    claim = await begun_duel(judge)
    await show(judge, claim, FASTER)
    assert [(1, "ada", first)] == await _ranking(world)
    again = await begun_duel(judge)
    assert (claim.run_id, True) == (again.run_id, again.alone)
    assert claim.spec.seed != again.spec.seed
    await show(judge, again, SAME)
    assert [(1, "ada", first)] == await _ranking(world)
    told = await _why(world, second)
    assert told is not None
    assert NotRankedReason.DUEL_UNDECIDED is told.reason
    assert await judge.claim("CPU", "w") is None


@pytest.mark.exhaustive  # each run has test_its_job_has_both_sources_and_a_secret_seed
@pytest.mark.parametrize(
    ("ratio", "reason"),
    [(SAME, NotRankedReason.DUEL_UNDECIDED), (SLOWER, NotRankedReason.DUEL_LOST)],
)
async def test_who_does_not_win_is_told_the_ratio(
    world: World, ratio: tuple[float, float, float], reason: NotRankedReason
) -> None:
    first, second = await two_of_ada(world)
    await fought(world, ratio)
    told = await _why(world, second)
    assert [(1, "ada", first)] == await _ranking(world)
    assert told is not None
    assert (reason, first) == (told.reason, told.submission_id)
    assert "(ratio {:.3f}, {:.3f} to {:.3f}).".format(*ratio) in told.sentence


async def test_what_is_above_the_best_is_not_dueled(world: World) -> None:
    await world.board()
    await ranked(world, 1.0, relative_error=WIDE)
    await ranked(world, 1.05, relative_error=WIDE)
    assert [] == await all_duels(world)


async def test_what_is_clearly_better_is_not_dueled(world: World) -> None:
    await world.board()
    await ranked(world, 1.0)
    await ranked(world, 0.5)
    assert [] == await all_duels(world)


async def test_the_same_code_is_not_dueled(world: World) -> None:
    first, second = await two_of_ada(world)
    async with world.database.write() as session:
        await session.do("DELETE FROM duels")
        await session.do("UPDATE submissions SET code_sha256 = sha256('x')")
        await session.all(
            "SELECT refresh_standing(leaderboard_id, 'CPU', author_id) FROM submissions"
        )
    assert [] == await all_duels(world)
    assert NotRanked.because(NotRankedReason.SAME_CODE, first) == await _why(world, second)


@pytest.mark.exhaustive  # each run has test_its_job_has_both_sources_and_a_secret_seed
async def test_the_same_two_are_dueled_once(world: World) -> None:
    await two_of_ada(world)
    await fought(world, SAME)
    async with world.database.write() as session:
        await session.all(
            "SELECT refresh_standing(leaderboard_id, 'CPU', author_id) FROM submissions"
        )
    assert 1 == len(await all_duels(world))
    assert await judging(world).claim("CPU", "w") is None


@pytest.mark.exhaustive  # each run has test_the_winner_stands
async def test_the_next_best_is_dueled_with_who_stands_then(world: World) -> None:
    first, second = await two_of_ada(world)
    third = await ranked(world, 0.93, relative_error=WIDE)
    await fought(world, FASTER)
    waiting = [(d.submission_id, d.opponent_id) for d in await all_duels(world)]
    assert [(third, second), (third, first), (second, first)] == waiting


@pytest.mark.exhaustive  # each run has test_the_same_code_is_not_dueled
async def test_who_could_not_beat_one_is_not_dueled_with_who_did(world: World) -> None:
    first, second = await two_of_ada(world)
    third = await ranked(world, 0.93, relative_error=WIDE)
    judge = judging(world)
    claims = [await begun_duel(judge) for _ in range(2)]
    await end_duel(judge, claims[1], SAME)
    await end_duel(judge, claims[0], FASTER)
    told = await _why(world, third)
    assert [(1, "ada", second)] == await _ranking(world)
    assert 2 == len(await all_duels(world))
    assert told is not None
    assert (NotRankedReason.DUEL_UNDECIDED, first) == (told.reason, told.submission_id)


async def test_a_duel_that_decides_nothing_any_more_is_not_judged(world: World) -> None:
    _, second = await two_of_ada(world)
    best = await ranked(world, 0.5)
    judge = judging(world)
    assert await judge.claim("CPU", "w") is None
    (duel,) = await all_duels(world)
    assert (second, DuelState.FAILED) == (duel.submission_id, duel.state)
    assert "the ranking has changed" in duel.sentence
    assert [(1, "ada", best)] == await _ranking(world)


async def test_the_next_run_has_its_turn_at_once_when_a_duel_is_not_judged(world: World) -> None:
    """A worker that was given nothing waits for an announcement."""
    await two_of_ada(world)
    await ranked(world, 0.5)
    await enqueue(world.database, "CPU")
    async with await psycopg.AsyncConnection.connect(world.database.url, autocommit=True) as heard:
        await heard.execute("LISTEN kernelbot_turns")
        assert await judging(world).claim("CPU", "w") is None
        told = [one.payload async for one in heard.notifies(timeout=60, stop_after=1)]
    assert ["CPU"] == told


async def test_who_wins_too_late_does_not_replace_somebody_else(world: World) -> None:
    _, second = await two_of_ada(world)
    judge = judging(world)
    claim = await begun_duel(judge)
    best = await ranked(world, 0.5)
    await end_duel(judge, claim, FASTER)
    assert [(1, "ada", best)] == await _ranking(world)
    assert NotRanked.because(NotRankedReason.SUPERSEDED, best) == await _why(world, second)


async def test_neighbours_whose_intervals_overlap_are_dueled(world: World) -> None:
    ada, bob = await neighbours(world)
    (duel,) = await all_duels(world)
    assert (DuelReason.NEIGHBOURS, bob, ada) == (duel.reason, duel.submission_id, duel.opponent_id)


async def test_neighbours_that_are_apart_are_not(world: World) -> None:
    await world.board()
    await ranked(world, 1.0)
    await ranked(world, 2.0, author=world.bob.user)
    assert [] == await all_duels(world)


@pytest.mark.parametrize(
    ("ratio", "rank"),
    [(SLOWER, 2), (SAME, 1), ((1.004, 1.003, 1.005), 1), ((1.02, 0.99, 1.05), 1), (FASTER, 1)],
    ids=["slower", "the same", "within 0.5 %", "too wide", "faster than its median says"],
)
async def test_neighbours_share_a_rank_unless_a_duel_tells_them_apart(
    world: World, ratio: tuple[float, float, float], rank: int
) -> None:
    ada, bob = await neighbours(world)
    before = await world.services.standings.ranking(None, "sort", None)
    await fought(world, ratio)
    after = await world.services.standings.ranking(None, "sort", None)
    assert [(1, "ada", ada), (rank, "bob", bob)] == await _ranking(world)
    assert before.version < after.version


@pytest.mark.parametrize(("ratio", "is_slight"), [(1.004, True), (1.006, False)])
async def test_what_is_said_of_a_ratio_is_what_it_decides(
    world: World, ratio: float, is_slight: bool
) -> None:
    await neighbours(world)
    await fought(world, (ratio, 1.003, 1.007))
    [duel] = await all_duels(world)
    ranks = [rank for rank, *_ in await _ranking(world)]
    assert (is_slight, [1, 1] if is_slight else [1, 2]) == (
        "decides nothing" in duel.sentence,
        ranks,
    )


@pytest.mark.exhaustive  # each run has test_the_same_code_is_not_dueled
async def test_nobody_between_them_lets_the_slower_one_share_the_rank_again(world: World) -> None:
    ada, bob = await neighbours(world)
    await fought(world, SLOWER)
    between = await ranked(world, 1.02, author=world.admin.user, relative_error=WIDE)
    for _ in range(2):
        await fought(world, SAME)
    expected = [(1, "ada", ada), (1, "root", between), (3, "bob", bob)]
    assert expected == await _ranking(world)


async def test_neighbours_further_down_are_not_dueled(world: World) -> None:
    await configure(world.database, 1)
    await neighbours(world)
    assert [] == await all_duels(world)


@pytest.mark.exhaustive  # each run has test_its_job_has_both_sources_and_a_secret_seed
async def test_a_rejudge_ends_with_duels_as_far_down_as_it_went(world: World) -> None:
    await configure(world.database, 1)
    ada, bob = await neighbours(world)
    await ranked(world, 1.06, author=world.admin.user, relative_error=WIDE)
    await world.services.rejudging.start(world.admin.user, "sort", top=2)
    judge = judging(world)
    for score in ("1.0", "1.02"):
        claim = await judge.claim("CPU", "w")
        assert claim is not None
        assert await judge.launched(claim, "w", "handle")
        assert [] == await all_duels(world)
        assert await judge.finish(
            claim, "w", result_of(claim.spec, ["accepted", score, "0.9", "1.1"])
        )
    assert [(bob, ada)] == [(d.submission_id, d.opponent_id) for d in await all_duels(world)]


@pytest.mark.exhaustive  # each run has test_its_job_has_both_sources_and_a_secret_seed
async def test_duels_can_be_switched_off(world: World) -> None:
    await configure(world.database, None)
    first, second = await two_of_ada(world)
    await ranked(world, 1.0, author=world.bob.user, relative_error=WIDE)
    assert [] == await all_duels(world)
    assert NotRanked.because(NotRankedReason.NO_BETTER, first) == await _why(world, second)


@pytest.mark.exhaustive  # each run has test_its_job_has_both_sources_and_a_secret_seed
async def test_a_duel_is_no_run_of_its_submission(world: World) -> None:
    _, second = await two_of_ada(world)
    await fought(world, SAME)
    shown = await world.services.submissions.get(world.admin.user, second)
    statistics = await world.services.statistics.show(world.admin.user)
    assert 2 == len(shown.runs)
    assert [4] == [device.runs for device in statistics.devices]


@pytest.mark.exhaustive  # each run has test_its_job_has_both_sources_and_a_secret_seed
async def test_it_is_the_turn_of_the_newer_one_s_author(world: World) -> None:
    await neighbours(world)
    test = await world.submit(world.bob.user, mode=Mode.TEST)
    other = await world.submit(world.ada.user, mode=Mode.TEST)
    judge = judging(world)
    claims = [await judge.claim("CPU", "w") for _ in range(3)]
    assert [other.id, test.id] == [c.submission_id for c in claims if c and not c.spec.opponent]


@pytest.mark.parametrize("opposed", [True, False])
async def test_who_fails_in_a_duel_loses_nothing(world: World, opposed: bool) -> None:
    first, second = await two_of_ada(world)
    judge = judging(world)
    claim = await begun_duel(judge)
    words = ["opponent"] * opposed + ["wrong_answer"]
    assert await judge.finish(claim, "w", result_of(claim.spec, words))
    (duel,) = await all_duels(world)
    assert f"submission {first if opposed else second} wasn't accepted" in duel.sentence
    assert "secret" not in duel.sentence
    assert [(1, "ada", first)] == await _ranking(world)
    assert NotRanked.because(NotRankedReason.DUEL_FAILED, first) == await _why(world, second)


@pytest.mark.exhaustive  # each run has test_its_job_has_both_sources_and_a_secret_seed
@pytest.mark.parametrize(("opposed", "rank"), [(False, 2), (True, 1)])
async def test_who_stands_behind_keeps_no_shared_rank_by_failing(
    world: World, opposed: bool, rank: int
) -> None:
    ada, bob = await neighbours(world)
    judge = judging(world)
    claim = await begun_duel(judge)
    words = ["opponent"] * opposed + ["wrong_answer"]
    assert await judge.finish(claim, "w", result_of(claim.spec, words))
    assert [(1, "ada", ada), (rank, "bob", bob)] == await _ranking(world)
    (duel,) = await all_duels(world)
    assert (f"Submission {bob} stands behind" in duel.sentence) is not opposed


@pytest.mark.parametrize(
    "changes",
    [
        {"duel": None},
        {"duel": DuelResult(0.9, (0.95, 1.0), ())},
        {"suspicions": ("Its claims spread less than the clock.",)},
    ],
    ids=["no ratio", "beside its interval", "suspicious"],
)
async def test_what_cannot_be_a_ratio_decides_nothing(
    world: World, changes: dict[str, object]
) -> None:
    first, _ = await two_of_ada(world)
    judge = judging(world)
    claim = await begun_duel(judge)
    told: RunResult = replace(result_of(claim.spec, ["0.9", "0.8", "0.95"]), **changes)  # type: ignore[arg-type]
    assert await judge.finish(claim, "w", told)
    assert [DuelState.FAILED] == [duel.state for duel in await all_duels(world)]
    assert [(1, "ada", first)] == await _ranking(world)


async def _shown_busy(judge: RunLifecycle, claim: Claim) -> None:
    """It shows that the newer one is faster, by pairs that all had to wait."""
    told = result_of(claim.spec, [str(number) for number in FASTER])
    assert told.duel is not None
    loads = tuple(replace(one, waited=len(one.submission_ns)) for one in told.duel.workloads)
    assert await judge.finish(claim, "w", replace(told, duel=replace(told.duel, workloads=loads)))


async def test_one_on_a_busy_machine_is_measured_again_and_then_decides_nothing(
    world: World,
) -> None:
    first, second = await two_of_ada(world)
    judge = judging(world)
    for _ in range(2):
        await _shown_busy(judge, await begun_duel(judge))
    (duel,) = await all_duels(world)
    told = await _why(world, second)
    assert told is not None
    assert (DuelState.FAILED, NotRankedReason.DUEL_FAILED) == (duel.state, told.reason)
    assert "the machine was busy: most calls waited" in (duel.note or "")
    assert [(1, "ada", first)] == await _ranking(world)
    assert await judge.claim("CPU", "w") is None


@pytest.mark.exhaustive  # each run has test_the_same_code_is_not_dueled
@pytest.mark.parametrize("last", [FASTER, SAME])
async def test_who_wins_after_a_busy_machine_has_to_win_again_too(
    world: World, last: tuple[float, float, float]
) -> None:
    first, second = await two_of_ada(world)
    judge = judging(world)
    await _shown_busy(judge, await begun_duel(judge))
    await show(judge, await begun_duel(judge), FASTER)
    assert [(1, "ada", first)] == await _ranking(world)
    await show(judge, await begun_duel(judge), last)
    assert [(1, "ada", second if last == FASTER else first)] == await _ranking(world)
    assert await judge.claim("CPU", "w") is None


async def test_a_lost_attempt_is_tried_again_and_then_given_up(world: World) -> None:
    first, second = await two_of_ada(world)
    judge = judging(world)
    for _ in range(3):
        claim = await begun_duel(judge)
        assert await judge.lost(claim, "w", "the node is gone", Fault.PLATFORM)
        async with world.database.write() as session:
            await session.do("UPDATE runs SET ready_at = NULL")
    (duel,) = await all_duels(world)
    assert (DuelState.FAILED, False) == (duel.state, "node" in duel.sentence)
    assert await judge.claim("CPU", "w") is None
    assert NotRanked.because(NotRankedReason.DUEL_FAILED, first) == await _why(world, second)


async def test_a_result_of_a_failing_harness_blames_nobody(world: World) -> None:
    await two_of_ada(world)
    judge = judging(world)
    claim = await begun_duel(judge)
    failure = Failure(Fault.PLATFORM, "out of disk")
    told = replace(
        result_of(claim.spec, list(map(str, SAME))),
        verdict=Verdict.INTERNAL_ERROR,
        failure=failure,
        duel=None,
    )
    assert await judge.finish(claim, "w", told)
    (duel,) = await all_duels(world)
    assert "through no fault" in duel.sentence


@pytest.mark.exhaustive  # each run has test_the_same_code_is_not_dueled
@pytest.mark.parametrize("verdict", [Verdict.ACCEPTED, Verdict.INTERNAL_ERROR])
async def test_a_duel_on_data_that_recur_decides_nothing(world: World, verdict: Verdict) -> None:
    first, second = await two_of_ada(world)
    judge = judging(world)
    claim = await begun_duel(judge)
    told = replace(
        result_of(claim.spec, list(map(str, FASTER))),
        verdict=verdict,
        failure=Failure(Fault.PLATFORM, SAID) if verdict is Verdict.INTERNAL_ERROR else None,
        recurring_data=SAID,
    )
    assert await judge.finish(claim, "w", told)
    (duel,) = await all_duels(world)
    board = await world.services.boards.get(world.admin.user, "sort")
    assert (DuelState.FAILED, SAID) == (duel.state, board.recurring_data)
    assert "the data of its timed calls recurs" in duel.sentence
    assert "seed: 7" not in duel.sentence
    assert [(1, "ada", first)] == await _ranking(world)
    assert NotRanked.because(NotRankedReason.DUEL_FAILED, first) == await _why(world, second)


@pytest.mark.parametrize("which", [0, 1])
async def test_deleting_either_ends_the_duel(world: World, which: int) -> None:
    both = await two_of_ada(world)
    judge = judging(world)
    claim = await begun_duel(judge)
    await world.services.deletion.delete_submission(world.ada.user, both[which])
    assert not await judge.still_open(claim, "w")
    assert not await judge.finish(claim, "w", result_of(claim.spec, list(map(str, FASTER))))
    assert ([], [(1, "ada", both[1 - which])]) == (await all_duels(world), await _ranking(world))
    async with world.database.read() as session:
        turns = await session.all("SELECT waiting, running FROM queue_turns")
    assert {(0, 0)} == {(row["waiting"], row["running"]) for row in turns}


async def test_a_finished_submission_that_waits_for_a_duel_cannot_be_cancelled(
    world: World,
) -> None:
    _, second = await two_of_ada(world)
    await begun_duel(judging(world))
    with pytest.raises(Exception, match="finished already"):
        await world.services.submissions.cancel(world.ada.user, second)
    assert [DuelState.WAITING] == [duel.state for duel in await all_duels(world)]


def test_duel_transitions_are_the_same_in_sql(database_url: str) -> None:
    with psycopg.connect(database_url) as connection:
        stored = connection.execute("SELECT before, after FROM duel_transitions").fetchall()
    written = {(b.value, a.value) for b, afters in DUEL_TRANSITIONS.items() for a in afters}
    assert written == set(stored)
