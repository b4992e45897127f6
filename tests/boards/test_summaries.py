"""What lists of boards say of problems."""

from dataclasses import replace

import pytest

from kernelbot.boards.model import Difficulty, ProblemSummary
from kernelbot.protocol import Lang
from tests.support.problems import sort_problem
from tests.support.world import World


async def test_a_problem_is_summed_up_in_its_own_words(world: World) -> None:
    said = replace(
        sort_problem(), summary="Fast sorting.", difficulty=Difficulty.HARD, tags=("sort", "radix")
    )
    board = await world.services.boards.create(
        world.admin.user, said, name="sort", devices=("CPU",)
    )
    found = await world.services.summaries.for_boards([board])
    expected = ProblemSummary("Fast sorting.", Lang.PY, Difficulty.HARD, ("sort", "radix"))
    assert {board.problem_version_id: expected} == found


async def test_without_words_of_its_own_its_first_sentence_stands(world: World) -> None:
    board = await world.board()
    found = await world.services.summaries.for_boards([board, board])
    assert [ProblemSummary("Sort it.", Lang.PY, None, ())] == list(found.values())


async def test_boards_are_described_in_their_order(world: World) -> None:
    boards = [await world.board(name) for name in ("b", "a")]
    found = await world.services.summaries.all_described(boards)
    about = ProblemSummary("Sort it.", Lang.PY, None, ())
    assert [replace(one, about=about) for one in boards] == found


@pytest.mark.parametrize(
    ("difficulty", "tags", "expected"),
    [(None, (), "Python"), (Difficulty.HARD, ("sort", "radix"), "Python, hard, sort, radix")],
)
def test_facts_are_a_line(
    difficulty: Difficulty | None, tags: tuple[str, ...], expected: str
) -> None:
    assert expected == ProblemSummary("Sort.", Lang.PY, difficulty, tags).facts


async def test_of_no_boards_there_is_nothing(world: World) -> None:
    assert {} == await world.services.summaries.for_boards([])
