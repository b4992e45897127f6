"""A submission's scores beside others, as the API answers them."""

import pytest

from kernelbot.accounts.model import NewToken
from kernelbot.boards.model import Visibility
from kernelbot.boards.service import BoardEdit
from kernelbot.protocol import Mode
from kernelbot.ranking.model import ComparedScores, ScoreComparison
from tests.support.door import Door
from tests.support.ranked import ranked
from tests.support.world import World


async def compared(world: World, viewer: NewToken, number: int) -> list[ScoreComparison]:
    snapshot = await world.services.submissions.snapshot(viewer.user, number)
    found = await world.services.outcomes.comparisons(viewer.user, snapshot)
    return list(found.found)


def numbers(found: ScoreComparison) -> tuple[int | None, int | None, int | None]:
    """The submission's own, its author's other one's and the leader's."""
    return (
        found.score.submission_id,
        found.own.submission_id if found.own else None,
        found.leader.submission_id if found.leader else None,
    )


async def test_it_is_compared_with_its_authors_best_other_and_the_leader(world: World) -> None:
    await world.board(devices=("CPU", "H100"))
    await ranked(world, 4e-3)
    best = await ranked(world, 2e-3)
    await ranked(world, 1e-4, device="H100")
    first = await ranked(world, 1e-3, author=world.bob.user)
    number = await ranked(world, 3e-3)
    (found,) = await compared(world, world.ada, number)
    assert ("CPU", (number, best, first), None) == (found.device, numbers(found), found.rank)
    assert found.own is not None
    assert found.leader is not None
    assert ("ada", 2e-3, True, "bob", 1e-3) == (
        found.own.author,
        found.own.score_s,
        found.own.ci95_s is not None,
        found.leader.author,
        found.leader.score_s,
    )


_NEXT_VERSION = """WITH v AS (
    INSERT INTO problem_versions (
        problem_id, content_hash, judging_hash, definition, harness, ranking_by
    )
    SELECT problem_id, sha256('next'), sha256('next'), definition, harness, ranking_by
    FROM problem_versions RETURNING id
) UPDATE leaderboards SET problem_version_id = v.id FROM v"""


async def test_what_may_not_be_ranked_is_nobodys_best(world: World) -> None:
    await world.board()
    of_before = await ranked(world, 5e-4)
    async with world.database.write() as session:
        await session.do(_NEXT_VERSION)
    held = await ranked(world, 1e-3)
    best = await ranked(world, 2e-3)
    number = await ranked(world, 3e-3)
    async with world.database.write() as session:
        await session.do(
            f"UPDATE submissions SET review = 'held', review_reason = 'fast' WHERE id = {held}"
        )
    (found,) = await compared(world, world.ada, number)
    assert found.own is not None
    assert (best, 2e-3) == (found.own.submission_id, found.own.score_s)
    assert of_before < held < best


@pytest.mark.parametrize(("relative_error", "shared"), [(0.001, False), (0.04, True)])
async def test_the_first_is_its_own_leader_and_says_whether_it_shares_the_rank(
    world: World, relative_error: float, shared: bool
) -> None:
    await world.board()
    number = await ranked(world, 1.00e-3, relative_error=relative_error)
    await ranked(world, 1.03e-3, author=world.bob.user, relative_error=relative_error)
    (found,) = await compared(world, world.ada, number)
    assert (1, shared, (number, None, number)) == (found.rank, found.shared, numbers(found))


async def test_an_organiser_is_not_told_of_the_authors_other_ones(world: World) -> None:
    await world.board()
    await ranked(world, 2e-3)
    first = await ranked(world, 1e-3, author=world.bob.user)
    number = await ranked(world, 3e-3)
    (found,) = await compared(world, world.admin, number)
    assert (number, None, first) == numbers(found)


async def test_the_outcome_on_a_board_that_was_closed_is_told_nobody_outside(world: World) -> None:
    """Neither how far the leader is ahead, nor among how many: the board isn't there for them."""
    await world.board()
    await ranked(world, 1.0, author=world.bob.user)
    number = await ranked(world, 2.0)
    before = await world.services.outcomes.for_submission(world.ada.user, number)
    edit = BoardEdit(visibility=Visibility.CLOSED)
    await world.services.boards.edit(world.admin.user, "sort", edit)
    after = await world.services.outcomes.for_submission(world.ada.user, number)
    admins = await world.services.outcomes.for_submission(world.admin.user, number)
    assert ([1.0], [], before) == ([one.compared.leader_s for one in before], after, admins)


async def test_on_a_board_that_was_closed_nothing_is_compared(world: World) -> None:
    await world.board()
    number = await ranked(world, 1e-3)
    edit = BoardEdit(visibility=Visibility.CLOSED)
    await world.services.boards.edit(world.admin.user, "sort", edit)
    assert [0, 1] == [
        len(await compared(world, viewer, number)) for viewer in (world.ada, world.admin)
    ]


@pytest.mark.parametrize("mode", [Mode.TEST, Mode.LEADERBOARD])
async def test_what_has_no_score_is_not_compared(world: World, mode: Mode) -> None:
    await world.board()
    waiting = await world.submit(mode=mode)
    assert [] == await compared(world, world.ada, waiting.id)


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE submissions SET review = 'refused', review_reason = 'copied'",
        "UPDATE submissions SET review = 'held', review_reason = 'fast'",
        """UPDATE runs SET verdict = 'wrong_answer', fault = 'author', score_s = NULL,
        ci_low_s = NULL, ci_high_s = NULL WHERE NOT secret""",
    ],
)
async def test_what_was_not_accepted_is_not_compared(world: World, change: str) -> None:
    await world.board()
    number = await ranked(world, 1e-3)
    async with world.database.write() as session:
        await session.do(change)
    assert [] == await compared(world, world.ada, number)


async def test_an_answer_of_the_api_that_is_kept_has_the_leader_of_now(door: Door) -> None:
    await door.world.board()
    number = await ranked(door.world, 2e-3)
    seen = []
    for score_s in (1e-3, 5e-4):
        await ranked(door.world, score_s, author=door.world.bob.user)
        for _ in range(2):
            answer = (await door.ada.get(f"/api/v1/submissions/{number}")).json()
            (found,) = answer["comparisons"]
            seen.append((found["leader"]["score_s"], found["score"]["score_s"], found["rank"]))
    assert [(1e-3, 2e-3, 2)] * 2 + [(5e-4, 2e-3, 2)] * 2 == seen


@pytest.mark.parametrize(
    ("previous_s", "gain"), [(None, None), (2.0, 4.0), (0.51, 1.02), (0.5, None), (0.4, None)]
)
def test_a_gain_is_how_much_slower_the_last_best_was(
    previous_s: float | None, gain: float | None
) -> None:
    assert gain == ComparedScores(previous_s, leader_s=0.1, authors=3).gain(0.5)
