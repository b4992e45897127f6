"""What can a duel's interval tell apart, and how much does more time help? Simulated: pairs of
calls are drawn, and the rule that makes an interval of their ratios is the platform's own.

Run with `python -m benchmarks.duel_power [--duels 300]`. A ratio is made of the true one, of what
differs between the pairs of processes, of the moment, whose noise is alike from one turn to the
next, and of the pair itself, whose noise is three times as large in one of ten. The two machines
give intervals about as wide as `benchmarks.duel_decisions` has measured them, quiet and busy.
"""

import argparse
import math
import random
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.duel_decisions import Dueled
from kernelbot.protocol.scoring import process_interval
from kernelbot.render.table import table

MORE = (0.01, 0.02, 0.05)
"""By how much slower the opponent is."""
PAIRS = 160
TIMES = (1, 3)
"""How often as long a duel lasts, in pairs."""
_PROCESSES = 4
_ALIKE = 0.9
"""How far the noise of a moment is that of the one before."""
_SHARE_OF_BURSTS, _BURST = 0.1, 3.0


@dataclass(frozen=True)
class Machine:
    """Standard deviations of the logarithms of ratios."""

    name: str
    processes: float
    moments: float
    pairs: float


MACHINES = (Machine("quiet", 0.002, 0.002, 0.02), Machine("busy", 0.003, 0.004, 0.06))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--duels", type=int, default=300, help="of each kind")
    duels = parser.parse_args().duels
    headers = ("machine", "time", "half of the interval", "wrong", *(f"{m:.0%}" for m in MORE))
    rows = [row(machine, times, duels) for machine in MACHINES for times in TIMES]
    print(f"{duels} duels of each kind; wrong: of a kernel with itself; then how many decide.\n")
    print(table(headers, rows, right=headers[1:]))


def row(machine: Machine, times: int, duels: int) -> tuple[str, ...]:
    """A line of the table."""
    rng = random.Random(0)
    same = [drawn(machine, PAIRS * times, rng) for _ in range(duels)]
    half = statistics.median((one.high - one.low) / 2 for one in same)
    wrong = sum(one.says != 0 for one in same) / duels
    decided = [sum(slower(one, more).says == -1 for one in same) / duels for more in MORE]
    shares = (f"{share:.0%}" for share in decided)
    return machine.name, f"{times} x", f"{half:.2%}", f"{wrong:.1%}", *shares


def slower(same: Dueled, more: float) -> Dueled:
    """The same duel, had the opponent taken so much longer."""
    ratio, low, high = (end / (1 + more) for end in (same.ratio, same.low, same.high))
    return Dueled(ratio, low, high, same.took_s, same.pairs)


def drawn(machine: Machine, count: int, rng: random.Random) -> Dueled:
    """A duel of a kernel with itself."""
    ratios = _ratios(machine, count, rng)
    low, high = process_interval(ratios, _PROCESSES)
    return Dueled(statistics.median(ratios), low, high, took_s=0.0, pairs=count)


def _ratios(machine: Machine, count: int, rng: random.Random) -> Sequence[float]:
    of_processes = [rng.gauss(0, machine.processes) for _ in range(_PROCESSES)]
    moment, new = 0.0, math.sqrt(1 - _ALIKE**2) * machine.moments
    found = []
    for number in range(count):
        if number % _PROCESSES == 0:
            moment = _ALIKE * moment + rng.gauss(0, new)
        wide = _BURST if rng.random() < _SHARE_OF_BURSTS else 1.0
        own = rng.gauss(0, wide * machine.pairs)
        found.append(math.exp(of_processes[number % _PROCESSES] + moment + own))
    return found


if __name__ == "__main__":
    main()
