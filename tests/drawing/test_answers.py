"""What failed isn't asked for again at once, and nothing is fetched that there is no room for."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest

from kernelbot.drawing import text_process
from kernelbot.drawing.answers import Fetch, ProgramAnswers
from kernelbot.drawing.kept_program import PooledProgram

GOOD = b'{"code": "x", "suffix": ".py"}'


@dataclass
class Clock:
    now_s: float = 0.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
async def program() -> AsyncIterator[PooledProgram]:
    found = PooledProgram(text_process.__name__)
    yield found
    await found.close()


def line(content: bytes) -> Fetch:
    async def fetch() -> tuple[bytes, bytes]:
        return content, b""

    return fetch


async def refused() -> tuple[bytes, bytes]:
    raise AssertionError("it was fetched")


async def test_what_failed_is_asked_for_again_after_ten_minutes(program: PooledProgram) -> None:
    clock = Clock()
    answers = ProgramAnswers(60, clock=clock)
    assert await answers.ask(program, "a", line(b"no JSON"), 60, asker=1) is None
    clock.now_s = 599
    assert await answers.ask(program, "a", refused, 60, asker=1) is None
    clock.now_s = 601
    assert await answers.ask(program, "a", line(GOOD), 60, asker=1) is not None


async def test_nothing_is_fetched_for_who_has_asked_for_much(program: PooledProgram) -> None:
    answers, go_on = ProgramAnswers(0), asyncio.Event()

    async def fetch() -> tuple[bytes, bytes]:
        await go_on.wait()
        return GOOD, b""

    asked = [await answers.ask(program, key, fetch, 60, asker=1) for key in "abc"]
    assert [None, None, None] == asked
    assert await answers.ask(program, "d", refused, 60, asker=1) is None
    assert not answers.is_waiting("d")
    go_on.set()
    await asyncio.gather(*answers._asked.values())
    assert await answers.ask(program, "a", refused, 60, asker=1) is not None


async def test_a_request_that_cannot_be_fetched_says_why_and_is_no_failure(
    program: PooledProgram,
) -> None:
    answers = ProgramAnswers(60)
    with pytest.raises(AssertionError):
        await answers.ask(program, "a", refused, 60, asker=1)
    assert await answers.ask(program, "a", line(GOOD), 60, asker=1) is not None
