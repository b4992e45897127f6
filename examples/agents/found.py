"""What a search has found so far: the best, and a picture of how it came."""

import asyncio
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from template import Candidate

from kernelbot import Judge, Report
from kernelbot.drawing.drawing import Drawing, PictureFormat
from kernelbot.protocol import SamplingRules
from kernelbot.ranking.model import Score
from kernelbot.render.charts import progress_chart

PROBLEM = Path(__file__).resolve().parent.parent / "prefixsum_np"
ROUGH = SamplingRules(
    min_samples=6,
    max_samples=20,
    wall_cap_s=0.05,
    patience_s=2.0,
    target_relative_ci=0.1,
    processes=1,
    warmup_s=0.002,
)
"""Times for a search: rough, and quick to have. The winner is timed by the usual rules."""


@dataclass
class Found:
    """The candidates that were judged, with their rewards."""

    rewards: list[tuple[float, Candidate]] = field(default_factory=list)
    refused: int = 0
    began_s: float = field(default_factory=time.monotonic)
    _scores: list[Score] = field(default_factory=list)

    def add(self, candidate: Candidate, report: Report) -> None:
        """A report; what couldn't be judged is left out."""
        reward = report.reward("speed")
        if reward is None:
            return
        if report.score_s is None:
            self.refused += 1
            return
        self.rewards.append((reward, candidate))
        self._scores.append(
            Score(report.number, "", report.score_s, report.score_ci95_s, datetime.now(UTC))
        )

    @property
    def best(self) -> Candidate:
        """The one that is certainly as many times as fast as the reference as no other is."""
        return max(self.rewards, key=lambda found: found[0])[1]

    def parents(self, count: int) -> list[Candidate]:
        """So many of the best."""
        ordered = sorted(self.rewards, key=lambda found: -found[0])
        return [candidate for _, candidate in ordered[:count]]

    def draw(self, title: str, path: Path) -> bool:
        """Write a picture of all scores and the best until then. False if nothing can be drawn
        here: it needs the extra `charts`."""
        picture = asyncio.run(_drawn(title, self._scores))
        if picture is not None:
            path.write_bytes(picture)
        return picture is not None


async def _drawn(title: str, scores: list[Score]) -> bytes | None:
    drawing = Drawing()
    try:
        return await drawing.draw(progress_chart(title, scores), PictureFormat.SVG)
    finally:
        await drawing.close()


async def conclude(found: Found) -> None:
    """Say what came of it, and time the winner by the usual rules."""
    took_s = time.monotonic() - found.began_s
    judged = len(found.rewards) + found.refused
    print(f"{judged} judged in {took_s:.1f} s, {found.refused} of them refused.")
    if not found.rewards:
        print("None was accepted, so none is the best.")
        return
    async with Judge(slots=1) as judge:
        report = await judge.judge(PROBLEM, found.best.source, mode="leaderboard", baseline=True)
    low, high = report.speed_ci95 or (0.0, 0.0)
    print(f"Best: {found.best.method}, blocks of {found.best.block}.")
    print(f"With 95 % confidence {low:.2f} to {high:.2f} times as fast as the reference.")
