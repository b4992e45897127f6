from datetime import UTC, datetime

from kernelbot.domain.duels import Duel, DuelReason, DuelState, Ratio
from kernelbot.render.duels import duels_table

WHEN = datetime(2026, 1, 1, tzinfo=UTC)


def _duel(state: DuelState, ratio: Ratio | None = None, note: str | None = None) -> Duel:
    pair = (12, "a'; echo x\n", 7, "bob")
    return Duel(
        1, "sort", "CPU", DuelReason.NEIGHBOURS, state, *pair, ratio, note, False, WHEN, None
    )


def test_none_is_a_sentence() -> None:
    assert "There was no duel here yet." == duels_table(())


def test_a_row_per_duel_says_what_came_of_it() -> None:
    rows = (
        _duel(DuelState.WAITING),
        _duel(DuelState.MEASURED, Ratio(0.99, 0.985, 0.995)),
        _duel(DuelState.MEASURED, Ratio(1.01, 1.006, 1.014)),
        _duel(DuelState.MEASURED, Ratio(0.998, 0.991, 1.004)),
        _duel(DuelState.FAILED, note="submission 7 wasn't accepted in it"),
    )
    expected = [
        "It waits for its turn.",
        "Submission 12 is faster (ratio 0.990, 0.985 to 0.995).",
        "Submission 7 is faster (ratio 1.010, 1.006 to 1.014).",
        "It couldn't tell them apart (ratio 0.998, 0.991 to 1.004).",
        "It decides nothing: submission 7 wasn't accepted in it.",
    ]
    lines = duels_table(rows).splitlines()[1:]
    assert expected == [line.split("bob")[1].strip() for line in lines]
    assert {True} == {"a'; echo x\\n" in line for line in lines}
