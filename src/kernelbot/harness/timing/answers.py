"""Which outputs of timed calls are checked: chosen after sampling, so that nobody can predict it.

Outputs are kept until then; their inputs are generated again from the same seeds. If an output is
too large to keep, or the generator isn't repeatable, a secret random bit, drawn after the call,
decides whether it is checked at once or never.
"""

import ctypes
import math
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from kernelbot.harness.data.encode import Encoded
from kernelbot.harness.gpu.device_data import DeviceData
from kernelbot.harness.inside.cage.questions import Question
from kernelbot.harness.words.windows import Reply

MAX_KEPT_BYTES = 256 << 20
_CHEAP_CHECK_SHARE = 0.25
"""Checks count as cheap while all of them take less than this share of the sampling time."""
_LEAST_SHARE = 0.5
"""Enough wrong outputs to change a median include some among the fastest half; by random choice
they are missed once in a thousand runs."""
_OTHERS_SHARE = 0.25
"""The part of the slower outputs that is drawn at random, whatever that costs: nobody may count on
being slow."""

_TOGETHER_S = 0.05
"""Twice as many outputs are checked together next while that takes less than half of this."""
_MOST_TOGETHER = 32
_MOST_TOGETHER_BYTES = 8 << 20
"""Of the outputs that are checked together, each as large as the largest."""

Check = Callable[[Any, Any], None]
CheckAgain = Callable[[Sequence[int], Sequence[Any]], None]


@dataclass(frozen=True)
class _StoredOutput:
    sample: int
    call: int
    value: Any


class SampleOutputs:
    """The outputs of one workload's samples."""

    def __init__(
        self,
        check_again: CheckAgain,
        check: Check,
        *,
        repeatable: bool,
        share: float = _LEAST_SHARE,
        max_bytes: int = MAX_KEPT_BYTES,
    ) -> None:
        """`check`, of a question and an output, raises if that is wrong; `check_again` does so for
        outputs of calls, by their numbers, whose questions are asked once more.

        `share`: the least share of outputs to check; never less than half.
        """
        self._share = max(share, _LEAST_SHARE)
        self._check_again = check_again
        self._check = check
        self._repeatable = repeatable
        self._left_bytes = max_bytes
        self._random = random.SystemRandom()
        self._kept: list[_StoredOutput] = []
        self._count = 0
        self._most_together = _MOST_TOGETHER
        self.checked = 0
        """How many outputs have been checked so far."""

    def add(self, call: int, question: Question, reply: Reply) -> None:
        """Add a sample's output. Raises `AuthorFailure` if it is checked at once and wrong."""
        sample, self._count = self._count, self._count + 1
        if self._repeatable and reply.size_bytes <= self._left_bytes:
            self._left_bytes -= reply.size_bytes
            self._kept.append(_StoredOutput(sample, call, reply.value))
            fitting = max(1, _MOST_TOGETHER_BYTES // max(reply.size_bytes, 1))
            self._most_together = min(self._most_together, fitting)
        elif self._random.random() < self._share:
            self._check(question, reply.value)
            self.checked += 1

    def owed_s(self, check_s: float, fewest: int, sampling_s: float) -> float:
        """How long the checks in the end will take, at `check_s` each, after so much sampling:
        those that must be made, and more of them while that is cheap."""
        must_s = check_s * self._fewest_checks(fewest)
        return max(must_s, min(check_s * len(self._kept), _CHEAP_CHECK_SHARE * sampling_s))

    def check(self, samples_ns: Sequence[float], fewest: int, sampling_s: float) -> None:
        """Check the kept outputs: the fastest half, a quarter of the others, and more of them as
        long as that is cheap, in random order; all if there are fewer samples than `fewest`.

        Raises `AuthorFailure`.
        """
        start = time.monotonic()
        order = sorted(self._kept, key=lambda kept: samples_ns[kept.sample])
        middle, must = self._fastest(fewest), self._fewest_checks(fewest)
        others = order[middle:]
        self._random.shuffle(others)
        order[middle:] = others
        done, together = 0, 1
        while done < len(order):
            began = time.monotonic()
            if done >= must and began - start > _CHEAP_CHECK_SHARE * sampling_s:
                return
            some = order[done : done + together if done >= must else min(done + together, must)]
            self._check_again([kept.call for kept in some], [kept.value for kept in some])
            done += len(some)
            self.checked += len(some)
            if time.monotonic() - began < _TOGETHER_S / 2:
                together = min(2 * together, self._most_together)

    def _fastest(self, fewest: int) -> int:
        """How many of the fastest outputs are checked."""
        share = 1.0 if self._count < fewest else self._share
        return math.ceil(share * len(self._kept))

    def _fewest_checks(self, fewest: int) -> int:
        fastest = self._fastest(fewest)
        return fastest + math.ceil(_OTHERS_SHARE * (len(self._kept) - fastest))


def are_alike(one: Question, other: Question) -> bool:
    """Whether two questions give each rank the same bytes, array by array."""
    first, second = one.given.parts, other.given.parts
    return len(first) == len(second) and all(map(_have_same_content, first, second))


def _have_same_content(one: Encoded, other: Encoded) -> bool:
    if (
        isinstance(one, DeviceData)
        and isinstance(other, DeviceData)
        and not one.has_content_of(other)
    ):
        return False
    return len(one.leaves) == len(other.leaves) and all(
        ctypes.string_at(mine.address, mine.size_bytes)
        == ctypes.string_at(theirs.address, theirs.size_bytes)
        for mine, theirs in zip(one.leaves, other.leaves, strict=True)
    )
