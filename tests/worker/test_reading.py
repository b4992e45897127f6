"""Results that were made to take long, or much memory, and what becomes of others meanwhile."""

import asyncio
import base64
import contextlib
import hashlib
import os
import random
import signal
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest

from kernelbot.launchers.base import Left
from kernelbot.launchers.results import NoResult
from kernelbot.protocol import PROTOCOL_VERSION, Artifact, Mode, RunResult
from kernelbot.protocol.building import build_job
from kernelbot.protocol.result_size import MAX_PRODUCT_BYTES, most_bytes
from kernelbot.worker.reading import ResultReader
from tests.drawing.test_texts import account_of, variables_of
from tests.harness.jobs import SORT, a_job
from tests.support.building import built, product_of
from tests.support.honest import WITHIN_S, accepted
from tests.support.results import left_of
from tests.support.waiting import until
from tests.support.workers import signal_hosts
from tests.support.zips import zip_of_zeros, zipped

RANKED = a_job(SORT, mode=Mode.LEADERBOARD)
PROFILED = a_job(SORT, mode=Mode.PROFILE)
PROGRAM = b"kernelbot.worker.result_process"
LARGE = 20 << 20
LISTS = b"[" + b"[[[]]]," * (LARGE // 7) + b"[]]"


@contextlib.asynccontextmanager
async def reading(**changes: Any) -> AsyncIterator[ResultReader]:
    """Nothing of it runs at the end."""
    reader = ResultReader(**changes)
    try:
        yield reader
    finally:
        await reader.close()
    assert 0 == signal_hosts(signal.SIGKILL, of=PROGRAM)


def padded(result: RunResult) -> Left:
    """A result that isn't small."""
    return Left(left_of(result).content + b" " * (1 << 20))


def profile(size: int) -> RunResult:
    """One that leaves a file of so many bytes."""
    content = base64.b64encode(bytes(range(256)) * (size >> 8)).decode()
    file = Artifact("profile.0.trace", "application/gzip", content)
    return replace(accepted(PROFILED), artifacts=(file,))


async def why(reader: ResultReader, left: Left) -> str:
    with pytest.raises(NoResult) as caught:
        await reader.read(left, RANKED, WITHIN_S)
    return str(caught.value)


async def test_a_small_result_needs_no_process() -> None:
    async with reading() as reader:
        found = await reader.read(left_of(accepted(RANKED)), RANKED, WITHIN_S)
        assert 0 == signal_hosts(signal.SIGCONT, of=PROGRAM)
    assert accepted(RANKED) == found


async def test_one_that_a_power_cut_has_left_empty_is_none() -> None:
    async with reading() as reader:
        assert "its result can't be read" in await why(reader, Left(b""))


async def test_a_large_one_is_the_same_from_the_process() -> None:
    result = profile(4 << 20)
    async with reading() as reader:
        assert result == await reader.read(left_of(result), PROFILED, WITHIN_S)
        assert accepted(RANKED) == await reader.read(padded(accepted(RANKED)), RANKED, WITHIN_S)
        archive = zipped(("result.json", padded(accepted(RANKED)).content))
        left = Left(archive, "result.json")
        assert accepted(RANKED) == await reader.read(left, RANKED, WITHIN_S)


async def test_its_process_is_nobody_and_has_nothing_of_ours(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ADMIN_TOKEN", "secret-of-ours")
    async with reading() as reader:
        for content in (padded(accepted(RANKED)).content, "{}".encode("utf-16") * (1 << 18)):
            with contextlib.suppress(NoResult):
                await reader.read(Left(content), RANKED, WITHIN_S)
        (program,) = reader._idle
        assert program._kept is not None
        pid = program._kept._process.pid
        account = {"65534"} if os.geteuid() == 0 else {str(os.geteuid())}
        assert ("secret-of-ours" in variables_of(pid), account) == (False, account_of(pid))


HOSTILE = {
    "lists": (LISTS, "needs more than 512 MiB"),
    "a pit": (b"[" * LARGE, "can't be read"),
    "notes": (
        b'{"version":%d,"suspicions":[' % PROTOCOL_VERSION + b'"",' * (1 << 20) + b'""]}',
        "missing",
    ),
    "a number": (b"1" * LARGE, "can't be read"),
    "no text": (b"\xff" * (1 << 20), "can't be read"),
    "too much": (b"[" * (64 << 20), f"more than {most_bytes(RANKED) >> 20} MiB"),
}


@pytest.mark.parametrize(("content", "said"), HOSTILE.values(), ids=HOSTILE)
async def test_a_hostile_result_is_none_and_the_next_one_is_read(content: bytes, said: str) -> None:
    async with reading() as reader:
        assert said in await why(reader, Left(content))
        assert accepted(RANKED) == await reader.read(padded(accepted(RANKED)), RANKED, WITHIN_S)


@pytest.mark.parametrize("most", [1, 2048])
async def test_a_zip_of_zeros_is_none(most: int) -> None:
    async with reading() as reader:
        assert "can't be read" in await why(reader, Left(zip_of_zeros("r", most), "r"))


async def test_a_lie_is_found_in_the_process_too() -> None:
    async with reading() as reader:
        lied = replace(accepted(RANKED), score_s=5e-324)
        assert "score" in await why(reader, padded(lied))


@pytest.mark.exhaustive  # each run has test_a_hostile_result_is_none_and_the_next_one_is_read
async def test_while_one_is_read_others_are_too() -> None:
    """The first is read for as long as it is stopped."""
    async with reading() as reader:
        hostile = asyncio.create_task(why(reader, Left(LISTS)))
        await until(lambda: signal_hosts(signal.SIGSTOP, of=PROGRAM))
        for left in (left_of(accepted(RANKED)), padded(accepted(RANKED))):
            assert accepted(RANKED) == await reader.read(left, RANKED, WITHIN_S)
        assert not hostile.done()
        signal_hosts(signal.SIGCONT, of=PROGRAM)
        assert "can't be read" in await hostile


async def test_one_that_takes_too_long_is_ended() -> None:
    async with reading(limit_s=0.05) as reader:
        assert "takes more than" in await why(reader, Left(LISTS))


@pytest.mark.exhaustive  # each run has test_a_hostile_result_is_none_and_the_next_one_is_read
async def test_the_largest_product_is_read_whole() -> None:
    step = build_job(a_job(SORT), "b1", "builder")
    content = random.Random(1).randbytes(MAX_PRODUCT_BYTES)
    digest = hashlib.sha256(content).hexdigest()
    product = replace(
        product_of(b""), content_base64=base64.b64encode(content).decode(), sha256=digest
    )
    result = built(step, product)
    async with reading() as reader:
        assert result == await reader.read(left_of(result), step, WITHIN_S)
