"""Which calls' data are compared in full, and when two are found to be the same."""

from dataclasses import dataclass, field

import numpy as np
import pytest

from kernelbot.harness.data.encode import Encoded, encode
from kernelbot.harness.timing.recurrence import Recurrence

SAMPLE = 1 << 16
"""Bytes that are read at the beginning, in the middle and at the end of an array."""


@dataclass
class Data:
    """A call's question, of which only the data matter here."""

    given: Encoded


def data(size: int = 8, **changed: int) -> Data:
    """An array of zeros; `at_5=7`: but for this byte."""
    array = np.zeros(size, np.uint8)
    for name, value in changed.items():
        array[int(name.removeprefix("at_"))] = value
    return Data(encode(array, frozenset()))


@dataclass
class Made:
    """Data that are made again, by their call's number."""

    by_call: dict[int, Data]
    asked: list[int] = field(default_factory=list)

    def again(self, call: int) -> Data:
        self.asked.append(call)
        return self.by_call[call]


def looked(*calls: Data) -> tuple[bool, list[int]]:
    """Whether two of these calls had the same data, and which were made again for that."""
    made = Made(dict(enumerate(calls)))
    recurrence = Recurrence(calls[0], made.again)  # type: ignore[arg-type]
    for number, one in enumerate(calls):
        recurrence.look(number, one)  # type: ignore[arg-type]
    return recurrence.found, made.asked


@pytest.mark.parametrize(("third", "asked"), [(0, []), (1, [1])])
def test_the_same_data_are_found(third: int, asked: list[int]) -> None:
    """Those of the first call are there."""
    assert (True, asked) == looked(data(), data(at_0=1), data(at_0=third))


def test_data_that_differ_are_not_made_again() -> None:
    assert (False, []) == looked(*(data(at_7=number) for number in range(8)))


def test_the_same_bytes_of_another_type_are_other_data() -> None:
    number = Data(encode(np.zeros(1), frozenset()))
    assert (False, []) == looked(data(), number)


@pytest.mark.parametrize("place", [0, SAMPLE - 1, 2 * SAMPLE, 3 * SAMPLE - 1, 4 * SAMPLE, -1])
def test_three_samples_of_an_array_are_read(place: int) -> None:
    size = 5 * SAMPLE
    one, other = data(size), data(size, **{f"at_{place % size}": 1})
    assert (False, []) == looked(data(1), one, other)


@pytest.mark.parametrize("place", [SAMPLE, 2 * SAMPLE - 1, 3 * SAMPLE, 4 * SAMPLE - 1])
def test_what_differs_elsewhere_is_compared_in_full(place: int) -> None:
    size = 5 * SAMPLE
    assert (False, [1]) == looked(data(1), data(size), data(size, **{f"at_{place}": 1}))


@pytest.mark.parametrize(("others", "found"), [(15, True), (16, False)])
def test_so_are_sixteen_at_most(others: int, found: bool) -> None:
    size, hidden = 5 * SAMPLE, SAMPLE
    alike = [data(size, **{f"at_{hidden + number}": 1}) for number in range(others)]
    assert (found, [1] * 16) == looked(data(1), data(size), *alike, data(size))


@pytest.mark.parametrize(("calls", "found"), [(63, True), (64, False)])
def test_sixty_four_calls_are_looked_at(calls: int, found: bool) -> None:
    assert found is looked(*(data(at_0=number) for number in range(calls)), data())[0]
