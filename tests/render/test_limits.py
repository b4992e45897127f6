"""What a device can do, in words."""

import pytest

from kernelbot.ranking.roofline import RooflineLimit
from kernelbot.render.limits import whole_text


@pytest.mark.parametrize(
    ("is_memory", "expected"),
    [
        (
            True,
            (
                "Memory bandwidth limits this problem on a\\n: the data can't be moved in less than"
                " 1.00 ms. This kernel reaches 31 % of the bandwidth."
            ),
        ),
        (
            False,
            (
                "Arithmetic limits this problem on a\\n: the operations can't be done in less than"
                " 1.00 ms. This kernel reaches 31 % of the peak."
            ),
        ),
    ],
)
def test_a_limit_is_two_sentences(is_memory: bool, expected: str) -> None:
    assert expected == whole_text(RooflineLimit(is_memory, 0.314, 1e-3), "a\n")
