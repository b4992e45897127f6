"""Which outputs are checked, chosen after the times are known."""

import itertools
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from kernelbot.harness.judge.test_phase import wrong_answer
from kernelbot.harness.timing.answers import SampleOutputs
from kernelbot.harness.words.failures import AuthorFailure
from kernelbot.harness.words.windows import Reply, Window


@dataclass
class Asked:
    """A question known by its call's number; garbage is what isn't that number."""

    call: int
    given: Any = None

    def work_out(self) -> None:
        """There is no reference."""

    def max_output_bytes(self) -> int | None:
        """Nobody knows."""
        return None

    def complaint(self, output: Any) -> str:
        """Empty for the call's number."""
        return "" if output == self.call else "garbage"


@dataclass
class Checker:
    """Notes which calls are checked."""

    calls: list[int] = field(default_factory=list)

    together: list[int] = field(default_factory=list)
    """How many were checked again at a time."""

    def check(self, question: Any, value: Any) -> None:
        self.calls.append(question.call)
        if question.complaint(value):
            raise wrong_answer("garbage")

    def check_again(self, calls: Sequence[int], values: Sequence[Any]) -> None:
        self.together.append(len(calls))
        for call, value in zip(calls, values, strict=True):
            self.check(Asked(call), value)


def answers(
    checker: Checker, *, repeatable: bool = True, max_bytes: int = 1 << 20
) -> SampleOutputs:
    return SampleOutputs(
        checker.check_again, checker.check, repeatable=repeatable, max_bytes=max_bytes
    )


def fill(made: SampleOutputs, values: list[int], size_bytes: int = 8) -> None:
    for call, value in enumerate(values):
        made.add(call, Asked(call), Reply(value, Window(1, 1), size_bytes, aliased=False))


def test_outputs_of_256_mib_are_kept_and_no_more() -> None:
    checker = Checker()
    made = SampleOutputs(checker.check_again, checker.check, repeatable=True, share=1.0)
    fill(made, [0, 1], size_bytes=128 << 20)
    assert [] == checker.calls
    made.add(2, Asked(2), Reply(2, Window(1, 1), 1, aliased=False))
    assert [2] == checker.calls


def test_nothing_is_checked_before_sampling_is_over() -> None:
    checker = Checker()
    fill(answers(checker), list(range(40)))
    assert [] == checker.calls


def test_the_fastest_half_is_checked_even_if_that_takes_long() -> None:
    checker = Checker()
    made = answers(checker)
    fill(made, list(range(40)))
    made.check([100.0 - call for call in range(40)], 20, sampling_s=0.0)
    assert set(range(20, 40)) <= set(checker.calls)


def test_so_is_a_quarter_of_the_others_drawn_anew() -> None:
    drawn = set()
    for _ in range(20):
        checker = Checker()
        made = answers(checker)
        fill(made, list(range(40)))
        made.check([100.0 - call for call in range(40)], 20, sampling_s=0.0)
        assert 25 == made.checked
        drawn.add(frozenset(set(checker.calls) - set(range(20, 40))))
    assert len(drawn) > 1


def test_all_are_checked_if_that_is_cheap() -> None:
    checker = Checker()
    made = answers(checker)
    fill(made, list(range(40)))
    made.check([1.0] * 40, 20, sampling_s=1e9)
    assert (40, set(range(40))) == (made.checked, set(checker.calls))


def test_all_are_checked_if_there_are_few() -> None:
    checker = Checker()
    made = answers(checker)
    fill(made, list(range(5)))
    made.check([1.0] * 5, 20, sampling_s=0.0)
    assert set(range(5)) == set(checker.calls)


def test_garbage_that_was_fast_is_found() -> None:
    made = answers(Checker())
    fill(made, [*range(39), -1])
    with pytest.raises(AuthorFailure, match="garbage"):
        made.check([2.0] * 39 + [1.0], 20, sampling_s=0.0)


def test_a_sample_is_asked_for_by_its_call_and_all_in_the_time_that_is_cheap() -> None:
    checker = Checker()
    made = answers(checker)
    for call in range(100, 140):
        made.add(call, Asked(call), Reply(call, Window(1, 1), 8, aliased=False))
    made.check([1.0] * 40, 20, sampling_s=4 * 600.0)
    assert set(range(100, 140)) == set(checker.calls)


def test_of_data_that_cannot_be_made_again_not_even_nothing_is_kept() -> None:
    checker = Checker()
    made = SampleOutputs(checker.check_again, checker.check, repeatable=False, share=1.0)
    fill(made, [0, 1], size_bytes=0)
    assert [0, 1] == checker.calls


@pytest.mark.parametrize("how", [{"repeatable": False}, {"max_bytes": 7}])
def test_what_cannot_be_kept_is_checked_at_once_or_never(how: dict[str, Any]) -> None:
    checker = Checker()
    made = answers(checker, **how)
    fill(made, list(range(200)))
    assert 50 < len(checker.calls) < 150
    made.check([1.0] * 200, 20, sampling_s=1e9)
    assert made.checked == len(checker.calls)


def test_checks_to_come_count_as_time() -> None:
    made = answers(Checker())
    fill(made, list(range(10)))
    assert (10.0, 7.0) == (made.owed_s(1.0, 20, 0.0), made.owed_s(1.0, 10, 0.0))


@pytest.mark.parametrize(("sampling_s", "owed_s"), [(28.0, 7.0), (36.0, 9.0), (400.0, 10.0)])
def test_checks_that_are_made_as_they_are_cheap_count_as_well(
    sampling_s: float, owed_s: float
) -> None:
    made = answers(Checker())
    fill(made, list(range(10)))
    assert owed_s == made.owed_s(1.0, 10, sampling_s)


def test_quick_ones_are_checked_together_as_far_as_they_fit_into_8_mib() -> None:
    small, large = Checker(), Checker()
    for checker, size_bytes in ((small, 8), (large, 3 << 20)):
        made = answers(checker, max_bytes=1 << 30)
        fill(made, list(range(100)), size_bytes=size_bytes)
        made.check([1.0] * 100, 20, sampling_s=1e9)
        assert 100 == sum(checker.together) == made.checked
    assert (1, 2) == (small.together[0], max(large.together))
    assert max(small.together) == 32


def test_slow_ones_are_checked_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    checker, clock = Checker(), itertools.count()
    monkeypatch.setattr(time, "monotonic", lambda: float(next(clock)))
    made = answers(checker)
    fill(made, list(range(10)))
    made.check([1.0] * 10, 20, sampling_s=1e9)
    assert [1] * 10 == checker.together


def test_no_more_than_must_be_are_checked_together_once_time_is_up() -> None:
    checker = Checker()
    made = answers(checker)
    fill(made, list(range(40)))
    made.check([1.0] * 40, 20, sampling_s=0.0)
    assert 25 == sum(checker.together) < 40
