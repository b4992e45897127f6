"""Profiles are read in a process with limits, once."""

import asyncio
import gzip
import json
from collections.abc import AsyncIterator

import pytest

from kernelbot.submissions.profiles import reader as module
from kernelbot.submissions.profiles.reader import Fetch, ProfileReader
from tests.support.traces import event, trace_of

TRACE = trace_of([event("a", 1, 1), event("\ud800<b>", 2, 1)])
NESTED = gzip.compress(b'{"traceEvents": [' + b"[" * 100_000)
ALL_MEMORY = gzip.compress(b'{"traceEvents": [{"args": [' + b"[]," * (20 << 20))


@pytest.fixture
async def reader() -> AsyncIterator[ProfileReader]:
    found = ProfileReader(patience_s=60)
    yield found
    await found.close()


def files(trace: bytes, text: str = "words") -> Fetch:
    async def fetch() -> tuple[str, bytes]:
        return text, trace

    return fetch


async def refused() -> tuple[str, bytes]:
    raise AssertionError("it was fetched again")


async def test_a_profile_is_read_once(reader: ProfileReader) -> None:
    first = await reader.read((1, 0), files(TRACE), asker=1)
    assert first is not None
    assert ["\\ud800<b>", "a"] == [cell.name for cell in first.graphs[0].cells]
    assert first is await reader.read((1, 0), refused, asker=1)
    other = await reader.read((1, 1), files(b""), asker=1)
    assert other is not None
    assert () == other.graphs


@pytest.mark.parametrize(
    "trace",
    [
        pytest.param(NESTED, id="deep"),
        pytest.param(ALL_MEMORY, id="large", marks=pytest.mark.exhaustive),
    ],
)
async def test_hostile_traces_leave_the_text(reader: ProfileReader, trace: bytes) -> None:
    found = await reader.read((1, 0), files(trace), asker=1)
    assert found is not None
    assert ((), "words") == (found.graphs, found.sections[0].text)
    assert found.trace_note.endswith(".")


@pytest.mark.exhaustive  # each run has test_the_largest_honest_trace_is_read
async def test_what_takes_too_long_is_not_tried_again(
    reader: ProfileReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert await reader.read((1, 0), files(b""), asker=1) is not None
    monkeypatch.setattr(module, "_LIMIT_S", 0.001)
    large = trace_of([event("a", number, 1) for number in range(20_000)])
    assert await reader.read((2, 0), files(large), asker=1) is None
    assert (None, False) == (await reader.read((2, 0), refused, asker=1), reader.is_waiting((2, 0)))
    monkeypatch.undo()
    assert await reader.read((3, 0), files(large), asker=1) is not None


async def test_an_answer_that_is_too_large_is_refused_unread(
    reader: ProfileReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_MOST_BYTES", 1_000)
    assert await reader.read((1, 0), files(b"", "x" * 2_000), asker=1) is None
    assert (None, False) == (await reader.read((1, 0), refused, asker=1), reader.is_waiting((1, 0)))
    assert await reader.read((2, 0), files(b"", "x" * 500), asker=1) is not None


async def test_nobody_waits_and_it_is_there_later() -> None:
    reader = ProfileReader(patience_s=0)
    try:
        assert await reader.read((1, 0), files(TRACE), asker=1) is None
        assert reader.is_waiting((1, 0))
        await asyncio.gather(*reader._answers._asked.values())
        assert await reader.read((1, 0), files(TRACE), asker=2) is not None
    finally:
        await reader.close()


async def test_the_largest_honest_trace_is_read(reader: ProfileReader) -> None:
    args = {"Sequence number": 17, "Input Dims": [[64, 64], [64, 64]], "Ev Idx": 17}
    events = [event(f"aten::f{n % 50}", n, 1) | {"args": args} for n in range(50_000)]
    trace = gzip.compress(json.dumps({"traceEvents": events}).encode(), 1)
    found = await reader.read((1, 0), files(trace), asker=1)
    assert found is not None
    assert (20, "") == (found.graphs[0].not_listed.count, found.trace_note)
