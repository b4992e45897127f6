"""How many calls of a short kernel follow each other in one window, between the same two marks.

What begins and ends a window varies by some ten microseconds, however short the kernel: the
operating system has to wake a process. So a window holds as many calls as make that little, each
with data of its own, and a sample is the window's time divided by their number. Only the first of
them finds its code cold: of a kernel of a microsecond most would be the cost of loading that.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kernelbot.harness.judge.measuring.timed_runner import Samples
from kernelbot.protocol.scoring import MOST_CALLS

_WINDOW_NS = 1_000_000
"""From here on one call is long enough: what begins and ends a window is known to some ten
microseconds. Its middle half lies within twenty, and of three clocks the latest counts."""
_MOST_BYTES = 8 << 20
"""The most data of a window, which has to be made, kept and written."""
_MOST_ARRAYS = 400
"""The most outputs of a window: a mark has room for 500."""
_OWN_S = 1e-3
"""About what the judge needs for each call, beside data and checks."""
_FEWER = (1, 2, 4, 8, 16, MOST_CALLS)
"""At most so many calls share a window where data and checks are dear: steps that are far from each
other, or scores of the same kernel would be means of other numbers of calls each time."""
_TOO_MANY = 2
"""So many times as many as are enough aren't left together."""
_TRIES = 3
"""The first call of a window is slower than the others, since it is cold. So their number is
decided once by such a call, and then by what each further call took."""


@dataclass(frozen=True)
class CallLimits:
    """What bounds the number of calls in a window."""

    data_bytes: int
    """The data of each call."""
    others_s: float
    """The processor time that making a call's data and checking its output take: unlike their time,
    it doesn't follow what else the machine does at this moment."""
    window_s: float
    """So long the judge may compute for a window, or as much longer as the next step is nearer."""


def calls_in_a_window(time_ns: float, arrays: int, limits: CallLimits) -> int:
    """How many calls to put into a window, by how long each takes and how many arrays its output
    has. `time_ns` may be less than nothing: what is as short is hidden by noise."""
    return max(
        1,
        min(
            MOST_CALLS,
            _fitting(_WINDOW_NS, time_ns),
            _fitting(_MOST_BYTES, limits.data_bytes),
            _fitting(_MOST_ARRAYS, arrays),
            _nearest_step(limits.window_s / (limits.others_s + _OWN_S)),
        ),
    )


def _fitting(most: int, each: float) -> int:
    return int(most / max(each, 1))


def _nearest_step(calls: float) -> int:
    return min(_FEWER, key=lambda step: abs(math.log(max(calls, 1.0) / step)))


def fill_windows(
    taken: Sequence[Samples],
    window_ns: Callable[[], float],
    limits: CallLimits,
    try_window: Callable[[int], None],
) -> int:
    """Decide how many calls each window of `taken` holds, and returns that.

    `window_ns`: how long a quick window took of those that were tried last, in a duel that of the
    slower one; `try_window` tries some of so many calls. If these show that fewer are enough, there
    are fewer: in a window of many long calls only one would find its data and code cold. Outputs
    that share memory, of a kernel that has one place for all of them, have to be taken one by one.
    """
    calls, alone_ns = 1, window_ns()
    each_ns = alone_ns
    for _ in range(_TRIES):
        arrays = max(one.latest.parts // one.calls for one in taken)
        wanted = calls_in_a_window(each_ns, arrays, limits)
        if wanted <= calls:
            break
        calls = wanted
        try_window(calls)
        if any(one.latest.shared for one in taken):
            calls = 1
            break
        each_ns = (window_ns() - alone_ns) / (calls - 1)
        if calls_in_a_window(each_ns, arrays, limits) * _TOO_MANY <= calls:
            try_window(calls)  # on a busy machine all windows of a try may be slow
            each_ns = min(each_ns, (window_ns() - alone_ns) / (calls - 1))
        if (enough := calls_in_a_window(each_ns, arrays, limits)) * _TOO_MANY <= calls:
            calls = enough
            if calls > 1:
                try_window(calls)  # the first of each size shows where the outputs are
    for one in taken:
        one.calls = calls
    return calls
