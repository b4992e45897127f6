"""Do intervals stay true if sampling goes on while they are too wide to be ranked? A simulation of
ranked submissions by the harness's own stopping rule, and by the platform's own rule for measuring
again.

Run with `python -m benchmarks.sequential [--count 1000]`. *Before*: sampling ends at `wall_cap_s`,
and a measurement that is too wide is made again, with other processes, three times at most. *Now*:
it goes on first. A kernel's calls, its processes and the moments of the machine each have a
deviation of their own. The speed of moments is an autoregressive process, or one of two, and goes
on between the measurements. Some calls are slower by a quarter or more. The truth is the median of
all calls of all processes at all times.
"""

import argparse
import math
import random
import statistics
from collections.abc import Iterator
from dataclasses import dataclass, replace

from kernelbot.harness.timing.stopping_rule import StoppedBy, StoppingRule
from kernelbot.protocol import SamplingRules
from kernelbot.protocol.scoring import RESOLUTION_NS, is_too_wide, median_time
from kernelbot.render.table import table
from kernelbot.runs.repeats import MAX_REPEATS

RULES = SamplingRules()
_LONGEST_S = 20.0
_SLOWER = 0.25
_USUAL_NS = 1e6
_DRAWS = 200_000
"""For the truth, which is known to a hundredth of a deviation by these."""


@dataclass(frozen=True)
class Machine:
    """A kernel on a machine: the deviations of ln(time) of its calls, its processes and moments,
    and how long moments are alike."""

    name: str
    calls: float
    processes: float
    moments: float
    alike_s: float
    slow_share: float
    """The part of the calls that are slower."""
    count: int
    """How many processes are timed."""
    turn_s: float
    """How long a turn of all of them takes, with data and control calls."""
    around_s: float
    """What a measurement takes beside sampling."""
    switches: bool = False
    """Whether its speed is one of two, which differ by as much as moments deviate."""


MACHINES = (
    Machine("quiet", 0.03, 0.01, 0.02, 1.0, 0.05, 8, 0.13, 0.8),
    Machine("quiet, slow drift", 0.03, 0.01, 0.04, 10.0, 0.05, 8, 0.13, 0.8),
    Machine("quiet, processes differ", 0.03, 0.12, 0.01, 1.0, 0.05, 8, 0.13, 0.8),
    Machine("quiet, calls differ", 0.25, 0.02, 0.02, 1.0, 0.1, 8, 0.13, 0.8),
    Machine("quiet, two speeds", 0.04, 0.01, 0.30, 5.0, 0.05, 8, 0.13, 0.8, switches=True),
    Machine("busy", 0.15, 0.03, 0.05, 1.0, 0.2, 5, 0.3, 2.0),
    Machine("busy, three processes", 0.15, 0.03, 0.05, 1.0, 0.2, 3, 0.25, 2.0),
    Machine("busy, drift", 0.10, 0.02, 0.10, 3.0, 0.2, 5, 0.3, 2.0),
    Machine("busy, calls differ", 0.30, 0.03, 0.03, 1.0, 0.3, 5, 0.3, 2.0),
)


@dataclass(frozen=True)
class Measured:
    """What a submission was measured as in the end."""

    median_ns: float
    ci95_ns: tuple[float, float]
    took_s: float
    repeats: int

    @property
    def is_narrow(self) -> bool:
        """Whether it is no wider than what is ranked at once."""
        return not is_too_wide(self.median_ns, self.ci95_ns, RESOLUTION_NS)

    @property
    def half_width(self) -> float:
        """Half of its interval, as a share."""
        low, high = self.ci95_ns
        return (high - low) / 2 / self.median_ns


class Calls:
    """The calls of one kernel on a machine, whose speed goes on changing."""

    def __init__(self, machine: Machine, draw: random.Random) -> None:
        self._machine, self._draw = machine, draw
        self._moment = moment(machine, draw)

    def wait(self, seconds: float) -> None:
        """So much time passes."""
        if self._machine.switches:
            if self._draw.random() < seconds / self._machine.alike_s:
                self._moment = self._machine.moments - self._moment
            return
        stays = math.exp(-seconds / self._machine.alike_s)
        fresh = math.sqrt(1 - stays**2) * self._machine.moments
        self._moment = stays * self._moment + self._draw.gauss(0.0, fresh)

    def turns(self) -> Iterator[list[float]]:
        """Turns of freshly started processes, in ns."""
        machine, draw = self._machine, self._draw
        of_each = [draw.gauss(0.0, machine.processes) for _ in range(machine.count)]
        while True:
            turn = []
            for own in of_each:
                self.wait(machine.turn_s / machine.count)
                turn.append(_USUAL_NS * math.exp(self._moment + own + call(machine, draw)))
            yield turn


def moment(machine: Machine, draw: random.Random) -> float:
    """What any moment adds to ln(time)."""
    if machine.switches:
        return draw.choice((0.0, machine.moments))
    return draw.gauss(0.0, machine.moments)


def call(machine: Machine, draw: random.Random) -> float:
    """What a single call adds to ln(time)."""
    slower = draw.expovariate(1 / _SLOWER) if draw.random() < machine.slow_share else 0.0
    return draw.gauss(0.0, machine.calls) + slower


def truth_ns(machine: Machine) -> float:
    """The median of all calls."""
    draw = random.Random(0)
    found = [
        draw.gauss(0.0, machine.processes) + moment(machine, draw) + call(machine, draw)
        for _ in range(_DRAWS)
    ]
    return _USUAL_NS * math.exp(statistics.median(found))


def measure(machine: Machine, calls: Calls, *, goes_on: bool) -> Measured:
    """One measurement."""
    rule = StoppingRule(RULES, _LONGEST_S, _LONGEST_S, processes=machine.count, is_ranked=goes_on)
    took_s = 0.0
    stopped: StoppedBy | None = None
    for turn in calls.turns():
        for sample_ns in turn:
            rule.add(sample_ns)
        took_s += machine.turn_s
        stopped = rule.decide(took_s, took_s)
        if stopped is not None:
            break
    middle = median_time(rule.values, processes=machine.count)
    return Measured(middle.median_ns, middle.ci95_ns, took_s + machine.around_s, 0)


def submission(machine: Machine, draw: random.Random, *, goes_on: bool) -> Measured:
    """A submission, measured again as long as the platform would."""
    calls = Calls(machine, draw)
    found = measure(machine, calls, goes_on=goes_on)
    took_s, repeats = found.took_s, 0
    while not found.is_narrow and repeats < MAX_REPEATS:
        calls.wait(machine.around_s)
        found = measure(machine, calls, goes_on=goes_on)
        took_s, repeats = took_s + found.took_s, repeats + 1
    return replace(found, took_s=took_s, repeats=repeats)


def row(name: str, found: list[Measured], truth: float) -> tuple[str, ...]:
    """A line of the table."""
    took_s = sorted(one.took_s for one in found)
    narrow = [one for one in found if one.is_narrow]
    off = [math.log(one.median_ns / truth) ** 2 for one in found]
    return (
        name,
        _held(found, truth),
        _held(narrow, truth),
        f"{len(narrow) / len(found):.0%}",
        f"±{statistics.median(one.half_width for one in found):.1%}",
        f"{math.sqrt(statistics.fmean(off)):.1%}",
        f"{statistics.fmean(one.repeats for one in found):.2f}",
        f"{statistics.median(took_s):.1f}",
        f"{took_s[int(0.95 * len(took_s))]:.1f}",
    )


def _held(found: list[Measured], truth: float) -> str:
    if not found:
        return ""
    held = sum(one.ci95_ns[0] <= truth <= one.ci95_ns[1] for one in found)
    return f"{held / len(found):.0%}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000, help="submissions of each kind")
    count = parser.parse_args().count
    rows = []
    for machine in MACHINES:
        truth = truth_ns(machine)
        for name, goes_on in (("before", False), ("now", True)):
            draw = random.Random(1)
            found = [submission(machine, draw, goes_on=goes_on) for _ in range(count)]
            rows.append(row(f"{machine.name}, {name}", found, truth))
    headers = ("machine", "holds it", "if narrow", "narrow", "half-width", "off by", "repeats")
    print(table((*headers, "s", "95 % below"), rows, right=(*headers[1:], "s", "95 % below")))


if __name__ == "__main__":
    main()
