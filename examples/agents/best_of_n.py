"""Best of n: judge n programs drawn at random, side by side, and keep the best.

python examples/agents/best_of_n.py --judgings 50 --plot best.svg
"""

import argparse
import asyncio
import random
from pathlib import Path

from found import PROBLEM, ROUGH, Found, conclude
from template import Candidate

from kernelbot import Judge


async def search(judgings: int, seed: int) -> Found:
    """Judge so many."""
    chance, found = random.Random(seed), Found()
    candidates = [Candidate.any(chance) for _ in range(judgings)]
    pairs = [(PROBLEM, candidate.source) for candidate in candidates]
    async with Judge(sampling=ROUGH) as judge:
        async for report in judge.many(pairs, mode="benchmark", baseline=True):
            found.add(candidates[report.number], report)
    return found


def main() -> None:
    """Search, and say what came of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--judgings", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--plot", type=Path, help="where to draw the best over time, as SVG")
    arguments = parser.parse_args()
    found = asyncio.run(search(arguments.judgings, arguments.seed))
    asyncio.run(conclude(found))
    if arguments.plot and not found.draw("Best of n", arguments.plot):
        print("No picture: drawing needs the extra `charts`.")


if __name__ == "__main__":
    main()
