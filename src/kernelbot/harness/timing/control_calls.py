"""What the control runner's calls of one workload cost, and so what is subtracted from the
author's."""

import math
import statistics
from bisect import insort
from dataclasses import replace

from kernelbot.harness.timing.plausibility import CallBaseline, Overhead
from kernelbot.harness.timing.quantiles import interquartile_ns, quantile
from kernelbot.harness.timing.waits import has_waited
from kernelbot.harness.words.windows import Window

_LOW = 0.1
"""Quantile on a CPU by which is accused: nine in ten of the cheapest answers cost more."""
_MOST_TIMES = 3
_MOST_MORE_NS = 50_000
"""What control calls do is known work: one that takes more than so many times as long as the
cheapest tenth, and so much more, has waited, and what it waited for isn't subtracted from an
author's calls. Else on a busy machine a kernel could claim to have waited as well."""
_HIGH = 0.95
_SLACK = 1.25
_SLACK_NS = 20_000
_SLACK_WALL_NS = 50_000
"""Quantile on a GPU, where a call ends with a message, whose cost is higher and varies more: of
honest calls one in twenty costs more than the control calls, which doesn't change a median."""


class ControlCalls:
    """The costs of the control runner's calls of one workload so far.

    Each cost is kept sorted, so that the baseline after another call needs no sorting.
    """

    def __init__(self, *, on_gpu: bool, launches: bool = False) -> None:
        """`launches`: each call launches a kernel that does nothing, and its time is subtracted."""
        self._on_gpu = on_gpu
        self._launches = launches
        self._claim_ns: list[float] = []
        self._took_ns: list[float] = []
        self._main_cpu_ns: list[float] = []
        self._tree_cpu_ns: list[float] = []
        self._build_cpu_ns: list[float] = []
        self._still_cpu_ns: list[float] = []
        self._after_cpu_ns: list[float] = []
        self._outside_ns: list[float] = []
        self._describing_ns: list[float] = []
        self._bracket_ns: list[float] = []
        self._undisturbed: tuple[list[float], list[float], list[float]] = ([], [], [])
        self._waits_known = True

    def add(self, window: Window) -> None:
        """Add a call. On a GPU its own work is subtracted; on a CPU it has none."""
        work_ns = window.claim_ns if self._on_gpu else 0
        insort(self._took_ns, window.took_ns - work_ns)
        insort(self._main_cpu_ns, window.call_cpu_ns - work_ns)
        insort(self._tree_cpu_ns, window.shared_cpu_ns - work_ns)
        insort(self._build_cpu_ns, window.build_cpu_ns)
        insort(self._still_cpu_ns, window.still_cpu_ns)
        insort(self._after_cpu_ns, window.after_cpu_ns)
        insort(self._outside_ns, window.outside_ns)
        insort(self._describing_ns, window.describing_ns)
        insort(self._bracket_ns, window.took_ns)
        insort(self._claim_ns, window.claim_ns)
        self._waits_known &= window.waiting_known or window.kept_waiting_ns is not None
        if not has_waited(window, 0.0):
            costs = window.took_ns, window.call_cpu_ns, window.shared_cpu_ns
            for known, cost in zip(self._undisturbed, costs, strict=True):
                insort(known, cost)

    def baseline(self, share: float = 1.0, larger: float = 1.0) -> CallBaseline:
        """The overhead of a call, from the calls so far: there must be at least one.

        `share`: how much more an answer costs because it has more values; beside describing it,
        only on a GPU. `larger`: how much more describing it costs because it has more bytes.
        """
        least = self._on_a_gpu(share) if self._on_gpu else self._overhead(_LOW)
        usual = least if self._on_gpu else self._usual()
        known_ns = self._known_ns() * share + (_SLACK_WALL_NS if self._on_gpu else 0)
        return CallBaseline(
            replace(usual, took_ns=min(usual.took_ns, known_ns)),
            least,
            quantile(self._build_cpu_ns, _HIGH),
            quantile(self._still_cpu_ns, _HIGH),
            interquartile_ns(self._bracket_ns),
            quantile(self._after_cpu_ns, _HIGH) * share * larger,
            quantile(self._outside_ns, _HIGH) * share,
            max(
                quantile(self._main_cpu_ns, _HIGH) - least.main_cpu_ns,
                quantile(self._tree_cpu_ns, _HIGH) - least.tree_cpu_ns,
                0.0,
            ),
            self._on_gpu,
            self._noise_ns(),
            quantile(self._claim_ns, _LOW) if self._launches else 0.0,
            usual.took_ns > known_ns,
            usual_describing_ns=quantile(self._describing_ns, 0.5) * share,
            took_variation_ns=max(quantile(self._took_ns, _HIGH) - least.took_ns, 0.0),
        )

    def _known_ns(self) -> float:
        """How long a call that does nothing takes at most, unless it waits. Without a bound if what
        calls took is without their waits: of a wait that began before a call all is subtracted, so
        the cheapest took nothing, or less."""
        if self._waits_known:
            return math.inf
        return _MOST_TIMES * max(quantile(self._took_ns, _LOW), 0.0) + _MOST_MORE_NS

    def _noise_ns(self) -> float:
        """Implements `CallBaseline`."""
        mean_ns = statistics.fmean(self._main_cpu_ns)
        variance = statistics.fmean((each - mean_ns) ** 2 for each in self._main_cpu_ns)
        error_ns = math.sqrt(variance / len(self._main_cpu_ns))
        return max(mean_ns - statistics.median(self._main_cpu_ns), 0.0) + 2 * error_ns

    def _usual(self) -> Overhead:
        """The median of those that didn't wait, if there are any: what a wait costs beside itself
        must not be subtracted from calls that didn't. Accusations go by all of them."""
        if not all(self._undisturbed):
            return self._overhead(0.5)
        return Overhead(*(quantile(known, 0.5) for known in self._undisturbed))

    def _overhead(self, share: float) -> Overhead:
        """What that share of the calls cost at most."""
        return Overhead(
            quantile(self._took_ns, share),
            quantile(self._main_cpu_ns, share),
            quantile(self._tree_cpu_ns, share),
        )

    def _on_a_gpu(self, share: float) -> Overhead:
        """The 95 % quantile of the cost of the harness's own answers."""
        took_ns = max(quantile(self._took_ns, _HIGH), 0.0) * share + _SLACK_WALL_NS
        main_cpu_ns = statistics.median(self._main_cpu_ns) * share * _SLACK + _SLACK_NS
        tree_cpu_ns = statistics.median(self._tree_cpu_ns) * share * _SLACK + _SLACK_NS
        return Overhead(took_ns, main_cpu_ns, max(main_cpu_ns, tree_cpu_ns))
