import psycopg
import pytest
from benchmarks.duel_decisions import APART, Dueled, decisions_table, deviation


@pytest.mark.parametrize(
    ("ratio", "low", "high", "says"),
    [
        (0.98, 0.97, 0.99, -1),
        (1.02, 1.01, 1.03, 1),
        (0.98, 0.95, 1.01, 0),
        (0.998, 0.997, 0.999, 0),
        (1.004, 1.003, 1.005, 0),
    ],
)
def test_what_a_board_would_decide(ratio: float, low: float, high: float, says: int) -> None:
    assert says == Dueled(ratio, low, high, took_s=1.0, pairs=10).says


def test_of_a_kernel_with_itself_every_decision_is_wrong() -> None:
    same = [Dueled(1.0, 0.99, 1.01, 8.0, 90), Dueled(1.02, 1.01, 1.03, 8.0, 90)]
    row = decisions_table({0.0: same}).splitlines()[-1].split()
    assert ["0%", "1", "1", "0.99%", "90", "8.00", "s"] == row
    assert pytest.approx(0.014, abs=0.001) == deviation(same)


def test_it_decides_by_the_ratio_of_boards(database_url: str) -> None:
    with psycopg.connect(database_url) as connection:
        assert [(APART,)] == connection.execute("SELECT least_ratio()").fetchall()
