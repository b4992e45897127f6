"""Which intervals are measured again."""

import pytest

from kernelbot.domain.repeats import is_too_wide


@pytest.mark.parametrize(
    ("score_s", "ci95_s", "expected"),
    [
        (1e-3, (0.9e-3, 1.1e-3), False),
        (1e-3, (0.89e-3, 1.12e-3), True),
        (2e-6, (1.4e-6, 2.6e-6), False),  # as near as calls of two microseconds can be told
        (2e-6, (1e-6, 3e-6), True),
    ],
)
def test_an_interval_wider_than_a_tenth_either_way_is(
    score_s: float, ci95_s: tuple[float, float], expected: bool
) -> None:
    assert expected == is_too_wide(score_s, ci95_s)
