import pytest

from kernelbot.duels.model import ratio_text
from kernelbot.protocol import DuelResult, DuelWorkload
from kernelbot.render.duel import duel_text, faster

FASTER = DuelWorkload(
    "size: 1024", (900_000.0,) * 3, (1_000_000.0,) * 3, 0.9, (0.898, 0.903), "precision"
)
UNSURE = DuelWorkload("size: 64", (1_000.0,) * 2, (1_000.0,) * 2, 1.0, (0.99, 1.01), "wall_cap")
FASTER_TEXT = """\
A: mine.py
B: best.py

  workload          A        B  A / B   95 % interval  faster      pairs
  size: 1024   900 µs  1.00 ms  0.900  0.898 to 0.903  A               3
  size: 64    1.00 µs  1.00 µs  1.000  0.990 to 1.010  can't tell      2

Both calls of a pair had the same new data, cold caches, and a random order. Sampling ended"""
ENDED = "because the interval was narrow enough (1 of 2) or its time limit was reached (1 of 2)."
ANSWER = "✓ A is faster: mine.py\nA takes 0.900 of B's time (95 % interval 0.898 to 0.903)."


def test_the_faster_one_stands_last() -> None:
    duel = DuelResult(0.9, (0.898, 0.903), (FASTER, UNSURE))
    assert f"{FASTER_TEXT} {ENDED}\n\n{ANSWER}" == duel_text(duel, "mine.py", "best.py")


def test_an_interval_that_contains_1_tells_nothing() -> None:
    said = duel_text(DuelResult(1.0, (0.99, 1.01), (UNSURE,)), "a", "b").splitlines()
    assert (
        "Can't tell which is faster: A takes 1.000 of B's time, "
        "and the 95 % interval 0.990 to 1.010 contains 1."
    ) == said[-1]


@pytest.mark.parametrize(
    ("interval", "expected"),
    [((0.5, 0.99), "a"), ((1.01, 2.0), "b"), ((0.99, 1.0), None), ((1.0, 1.0), None)],
)
def test_only_an_interval_beside_1_tells_who_is_faster(
    interval: tuple[float, float], expected: str | None
) -> None:
    assert expected == faster(interval, "a", "b")


def test_large_ratios_need_fewer_digits() -> None:
    assert ["0.999", "1.001", "12.3", "1.23e+03"] == [
        ratio_text(one) for one in (0.9991, 1.0012, 12.345, 1234.5)
    ]


def test_a_ratio_that_is_not_1_is_not_written_as_1() -> None:
    ratios = (0.9994, 0.9997, 1, 1.0004, 1.000004, 1 - 1e-12)
    assert ["0.999", "0.9997", "1.000", "1.0004", "1.000004", "1.000000000"] == [
        ratio_text(one) for one in ratios
    ]


def test_names_are_harmless_and_the_table_fits() -> None:
    duel = DuelResult(0.9, (0.898, 0.903), (FASTER,))
    said = duel_text(duel, "a\x1b[2J\n.py", "b", columns=60)
    assert "\x1b" not in said
    assert 60 >= max(len(line) for line in said.split("\n\n")[1].splitlines())
