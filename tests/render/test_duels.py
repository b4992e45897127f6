from datetime import UTC, datetime

from kernelbot.duels.model import Duel, DuelReason, DuelState, Ratio, with_sentence
from kernelbot.protocol import DuelWorkload
from kernelbot.render.duels import NOT_BY_WORKLOAD, duel_by_workload, duels_table

WHEN = datetime(2026, 1, 1, tzinfo=UTC)


def _duel(state: DuelState, ratio: Ratio | None = None, note: str | None = None) -> Duel:
    pair = (12, "a'; echo x\n", 7, "bob")
    duel = Duel(
        1, "sort", "CPU", DuelReason.OWN_BEST, state, *pair, ratio, note, False, "", WHEN, None
    )
    return with_sentence(duel, 1.005)


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


HEAD = """\
Duel 1 on CPU, board sort
A: submission 12 by a'; echo x\\n
B: submission 7 by bob"""
TABLE = """\
  workload          A        B  A / B   95 % interval  faster  pairs
  workload 0  1.00 µs  2.00 µs  0.500  0.498 to 0.502  A           2"""


def test_one_duel_has_a_row_per_workload_and_its_outcome_last() -> None:
    load = DuelWorkload("workload 0", (1e3, 1e3), (2e3, 2e3), 0.5, (0.498, 0.502))
    duel = _duel(DuelState.MEASURED, Ratio(0.5, 0.498, 0.502))
    head, rows, how, outcome = duel_by_workload(duel, [load]).split("\n\n")
    assert (HEAD, TABLE) == (head, rows)
    assert how.startswith("Both calls of a pair")
    assert "Submission 12 is faster (ratio 0.500, 0.498 to 0.502)." == outcome


def test_who_may_not_see_its_workloads_is_told_who_may() -> None:
    duel = _duel(DuelState.MEASURED, Ratio(0.99, 0.985, 0.995))
    assert f"{HEAD}\n\n{NOT_BY_WORKLOAD}\n\n{duel.sentence}" == duel_by_workload(duel, ())


def test_what_was_not_measured_has_no_workloads() -> None:
    assert f"{HEAD}\n\nIt waits for its turn." == duel_by_workload(_duel(DuelState.WAITING), ())
