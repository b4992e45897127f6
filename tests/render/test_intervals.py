import pytest

from kernelbot.ranking.model import ScoreInterval
from kernelbot.render.intervals import beside_score, of_all_judgings, of_one_judging

OWN = (0.00195, 0.00205)


def _interval(scatter: float, pairs: int | None) -> ScoreInterval:
    return ScoreInterval((0.0018, 0.0022), OWN, scatter, pairs)


@pytest.mark.parametrize(
    ("ranked", "own", "text"),
    [
        (ScoreInterval((0.0018, 0.0022), OWN, 0.05, 0), None, "95 % interval 1.80 to 2.20 ms"),
        (ScoreInterval(OWN, OWN, 0.0, None), None, of_one_judging(OWN)),
        (None, OWN, of_one_judging(OWN)),
        (None, None, ""),
    ],
)
def test_beside_a_score_stands_the_rankings_interval_or_that_of_its_judging(
    ranked: ScoreInterval | None, own: tuple[float, float] | None, text: str
) -> None:
    assert text == beside_score(ranked, own)


def test_that_of_one_judging_says_so() -> None:
    assert "95 % interval of this judging 1.95 to 2.05 ms" == of_one_judging(OWN)


@pytest.mark.parametrize(
    ("pairs", "ends"),
    [
        (0, "±9.8 % between judgings, which is assumed: the device had shown nothing of that yet"),
        (1, "±9.8 % between judgings, as the device had shown by a repeated judging"),
        (7, "±9.8 % between judgings, as the device had shown by 7 repeated judgings"),
        (None, "±9.8 % between judgings"),
    ],
)
def test_that_of_all_says_what_it_consists_of(pairs: int | None, ends: str) -> None:
    text = of_all_judgings(_interval(0.05, pairs))
    assert f"95 % interval 1.80 to 2.20 ms: 1.95 to 2.05 ms of this judging, and {ends}" == text


def test_a_device_may_have_shown_that_judgings_do_not_differ() -> None:
    ends = "and ±0 % between judgings, as the device had shown by 40 repeated judgings"
    assert of_all_judgings(_interval(0.0, 40)).endswith(ends)


def test_what_was_judged_before_anything_was_known_is_of_one_judging() -> None:
    assert of_one_judging(OWN) == of_all_judgings(_interval(0.0, None))
