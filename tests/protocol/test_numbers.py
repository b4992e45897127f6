"""Numbers that nobody can derive, and on which both sides, or two releases, have to agree."""

import pytest

from kernelbot.protocol import payload, phases, recurring, result_rules, result_size, scoring, waits

KIB, MIB = 1024, 1024 * 1024


@pytest.mark.parametrize(
    ("number", "value"),
    [
        (payload.MAX_PAYLOAD_BYTES, 64 * MIB),
        (phases.LONGEST_TURN_WAIT_S, 300.0),
        (recurring.MOST_CALLS, 64),
        (result_rules.MAX_ITEMS, 1000),
        (result_rules.MAX_TEXT, 64 * KIB),
        (result_size.MAX_TEXT, 16 * KIB),
        (result_size.MAX_FILE_BYTES, 16 * MIB),
        (result_size.MAX_FILES_BYTES, 32 * MIB),
        (result_size.MAX_REPORT_BYTES, 256 * KIB),
        (result_size.MAX_BYTES, 128 * MIB),
        (result_size.MAX_PRODUCT_BYTES, 16 * MIB),
        (result_size.MAX_UNPACKED_BYTES, 64 * MIB),
        (scoring.MOST_CALLS, 32),
        (scoring.SAMPLES_PER_FACTOR, 10),
        (scoring.FEWEST_FOR_AN_INTERVAL, 6),
        (scoring.MAX_DRIFT, 0.1),
        (scoring.RESOLUTION_NS, 500.0),
        (scoring.FEWEST_TURNS, 2),
        (scoring.FEWEST_TURNS_BEFORE, 4),
        (waits.MOST_TRIES, 4),
        (waits.BUSY_SHARE, 5 / 6),
    ],
)
def test_a_number_is_that_of_the_other_side(number: float, value: float) -> None:
    assert value == number
