from datetime import UTC, datetime

from kernelbot.ranking.model import Standing
from kernelbot.render.standings import standings_table

WHEN = datetime(2026, 1, 1, tzinfo=UTC)
ROWS = (
    Standing(1, "ada", 3, 0.0011, (0.001, 0.0012), 7, "fast.py", WHEN, unverified=False),
    Standing(2, "a'; echo x\n", 4, 1.5, None, 12, "slow.py", WHEN, unverified=True),
)


def test_an_empty_board_says_so() -> None:
    assert "Nobody is ranked here yet." == standings_table(())


def test_a_row_per_author() -> None:
    expected = (
        "rank  author          score    95 % interval  vs leader  submission  file\n"
        "   1  ada           1.10 ms  1.00 to 1.20 ms                     #7  fast.py\n"
        "   2  a'; echo x\\n   1.50 s                    +136264%         #12  slow.py (unverified)"
    )
    assert expected == standings_table(ROWS)


def test_rows_further_down_are_compared_with_the_leader_too() -> None:
    text = standings_table(ROWS[1:], leader_s=1.0)
    assert "+50.0%" in text


def test_a_shared_rank_says_so() -> None:
    both = tuple(
        Standing(1, name, 3, 1e-3, None, 7, "x.py", WHEN, unverified=False, shared=True)
        for name in ("ada", "bob")
    )
    lines = standings_table(both).splitlines()
    assert ["  =1  ada", "  =1  bob"] == [line[:9] for line in lines[1:]]
