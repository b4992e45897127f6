"""Evolution: change the best programs a little, again and again, with no model at all.

python examples/agents/evolve.py --judgings 200 --plot best.svg
"""

import argparse
import asyncio
import itertools
import random
from collections.abc import AsyncIterator
from pathlib import Path

from found import PROBLEM, ROUGH, Found, conclude
from template import Candidate

from kernelbot import Judge

FIRST, PARENTS = 20, 5
MOST_TRIES = 100
"""After so many changes that were known already a program is drawn at random."""


class Evolution:
    """So many at random, then changes of the best ones that are known when there is room to judge
    another: no judge waits for the end of a generation. None is judged twice."""

    def __init__(self, judgings: int, seed: int) -> None:
        self._judgings = judgings
        self._chance = random.Random(seed)
        self._known: set[Candidate] = set()
        self._children: list[Candidate] = []
        self.found = Found()

    async def search(self) -> Found:
        """Judge them all."""
        async with Judge(sampling=ROUGH) as judge:
            async for report in judge.many(self._pairs(), mode="benchmark", baseline=True):
                self.found.add(self._children[report.number], report)
        return self.found

    async def _pairs(self) -> AsyncIterator[tuple[Path, str]]:
        while len(self._children) < self._judgings:
            child = self._next()
            self._known.add(child)
            self._children.append(child)
            yield PROBLEM, child.source

    def _next(self) -> Candidate:
        parents = self.found.parents(PARENTS) if len(self._children) >= FIRST else []
        for tries in itertools.count():
            parent = self._chance.choice(parents) if parents and tries < MOST_TRIES else None
            child = parent.changed(self._chance) if parent else Candidate.any(self._chance)
            if child not in self._known:
                break
        return child


def main() -> None:
    """Search, and say what came of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--judgings", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--plot", type=Path, help="where to draw the best over time, as SVG")
    arguments = parser.parse_args()
    found = asyncio.run(Evolution(arguments.judgings, arguments.seed).search())
    asyncio.run(conclude(found))
    if arguments.plot and not found.draw("Evolution", arguments.plot):
        print("No picture: drawing needs the extra `charts`.")


if __name__ == "__main__":
    main()
