"""A long series, of which every tenth source means harm: nothing is lost, and nothing piles up."""

import asyncio
import gc
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from kernelbot import Judge
from kernelbot.protocol import Verdict
from tests.library.sources import HOSTILE, RIGHT
from tests.library.test_ending import host_of
from tests.support.waiting import until
from tests.support.warm import below, busy_runners

HARM = ("hangs", "floods", "kills")
EXPECTED = {
    "right": Verdict.ACCEPTED,
    "hangs": Verdict.TIME_LIMIT,
    "floods": Verdict.OUTPUT_LIMIT,
    "kills": Verdict.RUNTIME_ERROR,
}
MOST_GROWTH_BYTES = 16 << 20
"""Of the host and this process together: a report that were kept would be some kilobytes, and a
runner that stayed tens of megabytes."""


def kinds(count: int) -> list[str]:
    """Every tenth is one of those that mean harm, in turn."""
    return [HARM[n // 10 % len(HARM)] if n % 10 == 5 else "right" for n in range(count)]


def anonymous_bytes(pid: int) -> int:
    """What a process has in memory that isn't of a file. Pages that it shares with processes forked
    from it count as well: whether they are its own alone depends on which of those live."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    (found,) = (line.split()[1] for line in lines if line.startswith("Anonymous:"))
    return int(found) << 10


@pytest.mark.parametrize(
    "count",
    [
        pytest.param(30, marks=[pytest.mark.exhaustive, pytest.mark.timeout(600)]),
        pytest.param(300, marks=[pytest.mark.long, pytest.mark.timeout(3600)]),
    ],
)
async def test_every_tenth_means_harm_and_each_has_its_verdict(
    home: Path, sums: Path, open_files: None, count: int
) -> None:
    async with Judge(slots=2) as judge:
        for name in HOSTILE:  # whatever is made once is there before anything is counted
            await judge.judge(sums, HOSTILE[name])
        host = host_of(home)
        processes = await at_rest(host)
        before = memory(host)
        wanted = kinds(count)
        found = Counter[tuple[str, Verdict]]()
        async for report in judge.many(pairs(sums, wanted)):
            found[wanted[report.number], report.verdict] += 1
        await until(lambda: not busy_runners(home))
        await until(lambda: len(below(host)) <= processes)
        grown = memory(host) - before
    assert {(kind, EXPECTED[kind]): times for kind, times in Counter(wanted).items()} == found
    assert host == host_of(home)
    assert grown < MOST_GROWTH_BYTES


async def at_rest(host: int) -> int:
    """How many processes it has, once they have been as many for three seconds: what gets ready for
    the next job is there by then."""
    count, looks = -1, 0
    while looks < 30:
        await asyncio.sleep(0.1)
        now = len(below(host))
        count, looks = now, looks + 1 if now == count else 0
    return count


def pairs(problem: Path, wanted: list[str]) -> Iterator[tuple[Path, str]]:
    for number, kind in enumerate(wanted):
        text = RIGHT if kind == "right" else HOSTILE[kind]
        yield problem, f"{text}# {number}\n"


def memory(host: int) -> int:
    gc.collect()
    return anonymous_bytes(host) + anonymous_bytes(os.getpid())
