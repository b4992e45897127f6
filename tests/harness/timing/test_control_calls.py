"""What may be subtracted: what control calls cost, and not what they waited for."""

from collections.abc import Iterable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelbot.harness.timing.control_calls import ControlCalls
from kernelbot.harness.timing.plausibility import CallBaseline
from kernelbot.harness.words.windows import Window

US = 1_000
MS = 1_000_000
LIE_NS = 50 * MS
RANKS = Window(claim_ns=10 * US, bracket_ns=510 * US)
"""A control call of ranks on GPUs: 10 us of its own, and half a millisecond of messages."""


def took(bracket_ns: int) -> Window:
    return replace(RANKS, bracket_ns=bracket_ns + RANKS.claim_ns)


def baseline_of(calls: Iterable[Window], *, on_gpu: bool = True) -> CallBaseline:
    seen = ControlCalls(on_gpu=on_gpu)
    for call in calls:
        seen.add(call)
    return seen.baseline()


def busy(share: float = 0.2, waiting_ns: int = 60 * MS, count: int = 40) -> CallBaseline:
    """Of control calls, this share of which waited for so long."""
    waited = int(share * count)
    return baseline_of([RANKS] * (count - waited) + [took(waiting_ns)] * waited)


def test_a_lie_hides_in_nothing_that_control_calls_waited() -> None:
    lie = took(LIE_NS)
    quiet_ns = baseline_of([RANKS] * 40).bounded_ns(lie)
    assert quiet_ns > LIE_NS - MS
    assert quiet_ns - 2 * MS < busy().bounded_ns(lie)


@given(
    st.lists(st.integers(0, 10**10), min_size=1, max_size=60),
    st.integers(0, 10**10),
    st.booleans(),
)
def test_no_more_is_subtracted_than_a_few_times_the_cheapest(
    costs_ns: list[int], took_ns: int, on_gpu: bool
) -> None:
    cheap_ns = sorted(costs_ns)[len(costs_ns) // 10] + RANKS.claim_ns
    baseline = baseline_of(map(took, costs_ns), on_gpu=on_gpu)
    assert took_ns - baseline.bounded_ns(took(took_ns)) <= 3 * cheap_ns + 100 * US


def test_waits_of_control_calls_accuse_nobody() -> None:
    waited = [took(40 * MS)] * 20
    assert (True, None) == (
        baseline_of([RANKS] * 40).contradiction(waited) is not None,
        busy().contradiction(waited),
    )


@pytest.mark.parametrize(
    ("baseline", "took_ns", "expected"),
    [
        (busy(), LIE_NS, True),
        (busy(), 500 * US, False),  # no longer than control calls do without waiting
        (busy(0.0), LIE_NS, False),  # nothing else waited: that is a lie
        (busy(waiting_ns=1_500 * US), LIE_NS, False),  # control calls vary as much
    ],
)
def test_what_only_waiting_explains_has_waited(
    baseline: CallBaseline, took_ns: int, expected: bool
) -> None:
    assert expected == baseline.has_waited(took(took_ns))


def test_a_call_that_counts_until_it_was_described_claims_nothing() -> None:
    assert not busy().has_waited(replace(took(LIE_NS), described=True))


def test_calls_on_a_processor_are_bounded_as_well() -> None:
    most_waited = baseline_of([RANKS] * 10 + [took(60 * MS)] * 30, on_gpu=False)
    assert (True, True) == (
        most_waited.bounded_ns(took(LIE_NS)) > LIE_NS - 2 * MS,
        most_waited.has_waited(took(LIE_NS)),
    )


def test_calls_whose_waits_are_known_are_not_bounded_by_those_that_waited_before() -> None:
    """As is seen of one runner on a GPU: one in five waited for longer than it took."""
    known = [replace(took(600 * US), waiting_known=True)] * 32
    waited = [replace(known[0], waiting_ns=1_200 * US)] * 8
    baseline = baseline_of(known + waited)
    assert (10 * US, False) == (baseline.bounded_ns(known[0]), baseline.has_waited(took(LIE_NS)))
