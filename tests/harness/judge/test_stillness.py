"""Whose fault it is if a runner can't be frozen: the machine's if the control runner can't be."""

import pytest

from kernelbot.harness.judge.stillness import blamed_for_moving
from kernelbot.harness.sandbox.freezer import NotFrozen
from kernelbot.protocol import Verdict


def moving(of_opponent: bool | None) -> NotFrozen:
    error = NotFrozen("not within 5 s")
    error.of_opponent = of_opponent
    return error


@pytest.mark.parametrize("of_opponent", [False, True])
def test_it_is_the_authors_if_the_control_runner_stands_still(of_opponent: bool) -> None:
    done: list[str] = []
    found = blamed_for_moving(
        moving(of_opponent), lambda: done.append("end"), lambda: done.append("try")
    )
    assert ["end", "try"] == done
    assert (Verdict.RUNTIME_ERROR, True, of_opponent, "not within 5 s") == (
        found.verdict,
        found.disputable,
        found.of_opponent,
        found.evidence,
    )


def test_it_is_ours_if_that_moves_as_well() -> None:
    def moves() -> None:
        raise NotFrozen("the control runner")

    with pytest.raises(NotFrozen, match="the control runner"):
        blamed_for_moving(moving(of_opponent=False), lambda: None, moves)


def test_it_is_ours_if_no_author_was_in_it() -> None:
    done: list[str] = []
    with pytest.raises(NotFrozen, match="5 s"):
        blamed_for_moving(moving(None), lambda: done.append("end"), lambda: done.append("try"))
    assert [] == done
