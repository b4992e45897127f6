"""Evolution: change the best programs a little, again and again, with no model at all.

python examples/agents/evolve.py --judgings 200 --plot best.svg
"""

import argparse
import asyncio
import random
from pathlib import Path

from found import PROBLEM, ROUGH, Found, conclude
from template import Candidate

from kernelbot import Judge

GENERATION, PARENTS = 20, 5


async def search(judgings: int, seed: int) -> Found:
    """Judge so many, a generation at a time: the first at random, each next one from the best."""
    chance, found = random.Random(seed), Found()
    async with Judge(sampling=ROUGH) as judge:
        for judged in range(0, judgings, GENERATION):
            count = min(GENERATION, judgings - judged)
            parents = found.parents(PARENTS)
            children = [
                chance.choice(parents).changed(chance) if parents else Candidate.any(chance)
                for _ in range(count)
            ]
            pairs = [(PROBLEM, child.source) for child in children]
            async for report in judge.many(pairs, mode="benchmark", baseline=True):
                found.add(children[report.number], report)
    return found


def main() -> None:
    """Search, and say what came of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--judgings", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--plot", type=Path, help="where to draw the best over time, as SVG")
    arguments = parser.parse_args()
    found = asyncio.run(search(arguments.judgings, arguments.seed))
    asyncio.run(conclude(found))
    if arguments.plot and not found.draw("Evolution", arguments.plot):
        print("No picture: drawing needs the extra `charts`.")


if __name__ == "__main__":
    main()
