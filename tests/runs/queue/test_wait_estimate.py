from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelbot.runs.queue.model import DeviceQueuePosition
from kernelbot.runs.queue.store import WaitingRun
from kernelbot.runs.queue.wait_estimate import estimate_position

FIRST = WaitingRun(
    device="CPU",
    position=1,
    running=2,
    own_running=1,
    own_before=0,
    others=10,
    workers=1,
    mean_s=6.0,
)


def test_without_a_limit_the_place_is_the_turns() -> None:
    assert DeviceQueuePosition(1, 3.0, device="CPU") == estimate_position(FIRST, 2, None)


def test_a_limit_lets_others_go_first() -> None:
    assert DeviceQueuePosition(2, 6.0, device="CPU") == estimate_position(FIRST, 2, 1)


def test_an_authors_later_runs_never_go_first() -> None:
    alone = replace(FIRST, others=0)
    assert DeviceQueuePosition(1, 6.0, device="CPU") == estimate_position(alone, 2, 1)


def test_a_limit_that_leaves_room_changes_nothing() -> None:
    assert estimate_position(FIRST, 2, None) == estimate_position(FIRST, 2, 2)


@pytest.mark.parametrize("limit", [None, 1])
def test_without_a_worker_nothing_is_guessed(limit: int | None) -> None:
    assert DeviceQueuePosition(1, None, device="CPU") == estimate_position(FIRST, 0, limit)


@pytest.mark.parametrize(
    ("changes", "slots", "limit", "expected"),
    [
        ({"running": 0, "position": 2}, 2, None, (2, 0.0)),
        ({"running": 1, "position": 2}, 2, None, (2, 3.0)),
        ({"running": 5, "position": 3}, 2, None, (3, 9.0)),
        ({"running": 0, "position": 2, "mean_s": None}, 2, None, (2, 0.0)),
        ({"running": 2, "position": 2, "mean_s": None}, 2, None, (2, None)),
        # One's own: as many at once as the limit says, and no more than there are slots.
        ({"running": 1, "own_running": 0, "others": 5}, 4, 2, (1, 0.0)),
        ({"running": 1, "own_before": 2, "position": 3, "others": 5}, 4, 2, (7, 6.0)),
        ({"running": 1, "own_before": 2, "position": 3, "others": 1}, 4, 2, (4, 6.0)),
        ({"running": 1, "own_before": 2, "position": 9, "others": 8}, 4, 2, (9, 9.0)),
        ({"running": 3, "own_running": 3, "own_before": 2}, 4, 2, (7, 9.0)),
        ({"running": 1, "own_before": 2, "position": 3, "others": 9}, 2, 8, (3, 6.0)),
        ({"running": 0, "own_running": 0, "own_before": 1, "others": 9}, 2, 0, (4, 6.0)),
    ],
)
def test_the_place_and_the_wait(
    changes: dict[str, int | None],
    slots: int,
    limit: int | None,
    expected: tuple[int, float | None],
) -> None:
    found = estimate_position(replace(FIRST, **changes), slots, limit)  # type: ignore[arg-type]
    assert expected == (found.position, found.wait_s)


SMALL = st.integers(0, 20)


@st.composite
def lines(draw: st.DrawFn) -> WaitingRun:
    own_before, others, own_running = draw(SMALL), draw(SMALL), draw(SMALL)
    position = draw(st.integers(own_before + 1, own_before + 1 + others))
    running = draw(st.integers(own_running, own_running + 20))
    return WaitingRun("CPU", position, running, own_running, own_before, others, 1, mean_s=1.0)


@given(lines(), st.integers(1, 8), st.integers(1, 8))
def test_a_limit_never_brings_anyone_forward(found: WaitingRun, slots: int, limit: int) -> None:
    free, held = estimate_position(found, slots, None), estimate_position(found, slots, limit)
    assert free.wait_s is not None
    assert held.wait_s is not None
    assert found.position <= held.position <= found.others + found.own_before + 1
    assert free.wait_s <= held.wait_s


@given(lines(), st.integers(1, 8), st.integers(1, 8))
def test_nobody_waits_for_less_than_those_before_him_take(
    found: WaitingRun, slots: int, limit: int
) -> None:
    place = estimate_position(found, slots, limit)
    assert place.wait_s is not None
    assert (place.position - max(0, slots - found.running)) / slots <= place.wait_s
