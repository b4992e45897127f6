from datetime import UTC, datetime

from kernelbot.ranking.model import Standing
from kernelbot.render.standings import standings_table

WHEN = datetime(2026, 1, 1, tzinfo=UTC)


def test_an_empty_board_says_so() -> None:
    assert "Nobody is ranked here yet." == standings_table(())


def test_a_row_per_author() -> None:
    rows = (
        Standing(1, "ada", 3, 0.0011, (0.001, 0.0012), 7, "fast.py", WHEN, unverified=False),
        Standing(2, "a'; echo x\n", 4, 1.5, None, 12, "slow.py", WHEN, unverified=True),
    )
    expected = (
        "rank  author          score        95% of it  submission  file\n"
        "   1  ada           1.10 ms  1.00 to 1.20 ms          #7  fast.py\n"
        "   2  a'; echo x\\n   1.50 s                          #12  slow.py (unverified)"
    )
    assert expected == standings_table(rows)
