import asyncio
import contextlib
from collections.abc import Sequence

import pytest

from kernelbot.launchers.batching import batches, next_batch
from kernelbot.protocol import EventKind, ProgressEvent
from tests.support.virtual_time import run_virtually

SILENT_S, TOGETHER_S = 5.0, 0.05
STARTED = ProgressEvent(EventKind.STARTED)
Told = tuple[float, ProgressEvent | None]


def case(index: int) -> ProgressEvent:
    return ProgressEvent(EventKind.CASE, index=index)


@pytest.mark.parametrize(
    ("told", "batches"),
    [
        ([(0.0, case(0)), (0.02, case(1)), (0.04, case(2)), (0.2, None)], [3, 1]),
        ([(0.0, case(0)), (0.04, case(1)), (0.06, case(2)), (0.07, None)], [2, 2]),
        ([(0.0, case(0)), (0.01, None)], [2]),
        ([(6.0, case(0)), (6.01, None)], [0, 2]),
        ([(0.0, STARTED), (0.04, case(0)), (0.08, case(1)), (0.085, None)], [4]),
        ([(0.0, STARTED), (0.2, case(0)), (0.21, None)], [1, 2]),
    ],
    ids=[
        "what-follows-soon",
        "from-the-first-on",
        "the-end",
        "silence",
        "a-job-begins",
        "a-job-only-begins",
    ],
)
def test_what_is_told_soon_after_another_is_in_one_batch_with_it(
    monkeypatch: pytest.MonkeyPatch, told: Sequence[Told], batches: list[int]
) -> None:
    async def main() -> tuple[list[int], list[ProgressEvent | None]]:
        queue = asyncio.Queue[ProgressEvent | None]()
        for at_s, event in told:
            asyncio.get_running_loop().call_later(at_s, queue.put_nowait, event)
        found = list[list[ProgressEvent | None]]()
        while not found or None not in found[-1]:
            found.append(await next_batch(queue, SILENT_S, TOGETHER_S))
        return [len(batch) for batch in found], [event for batch in found for event in batch]

    assert (batches, [event for _, event in told]) == run_virtually(monkeypatch, main)


def test_later_progress_waits_longer_than_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    told = [(0.0, case(0)), (0.04, case(1)), (0.06, case(2)), (0.4, case(3)), (0.5, None)]

    async def main() -> list[int]:
        queue = asyncio.Queue[ProgressEvent | None]()
        for at_s, event in told:
            asyncio.get_running_loop().call_later(at_s, queue.put_nowait, event)
        found = list[int]()
        async with contextlib.aclosing(batches(queue, SILENT_S, TOGETHER_S, 0.3)) as each:
            async for batch in each:
                found.append(len(batch))
                if None in batch:
                    return found
        raise AssertionError("the end was told")

    assert [2, 1, 2] == run_virtually(monkeypatch, main)


def test_the_end_of_a_job_ends_the_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> float:
        queue = asyncio.Queue[ProgressEvent | None]()
        queue.put_nowait(case(0))
        queue.put_nowait(None)
        await next_batch(queue, SILENT_S, TOGETHER_S)
        return asyncio.get_running_loop().time()

    assert run_virtually(monkeypatch, main) < TOGETHER_S / 10
