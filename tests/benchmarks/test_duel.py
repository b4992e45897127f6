import random

from benchmarks.duel import Duels, Scores, fewest, stretch, wrong_share

SLOW_WHILE = [1.0] * 50 + [3.0] * 50
"""A machine that is three times slower in the second half."""
PAIRS = [(time, time * 1.02) for time in SLOW_WHILE]


def test_pairs_tell_what_two_scores_do_not() -> None:
    scores = Scores([SLOW_WHILE], [[time * 1.02 for time in SLOW_WHILE]])
    assert 0.0 == wrong_share(Duels([PAIRS]), 3)
    assert wrong_share(scores, 3) > 0.2
    assert (3, 100) == (fewest(Duels([PAIRS]), 100), len(PAIRS))


def test_what_is_never_right_has_no_fewest() -> None:
    assert fewest(Duels([[(2.0, 1.0)] * 20]), 20) is None


def test_a_stretch_is_of_consecutive_samples() -> None:
    found = stretch(random.Random(2), [range(10)], 4)
    assert list(range(found[0], found[0] + 4)) == list(found)
