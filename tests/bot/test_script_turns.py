"""Whose script runs when."""

import asyncio

import pytest

from kernelbot.bot.script_turns import ScriptQueue
from kernelbot.domain.errors import TooManyRequests
from kernelbot.runs.queue.model import ScriptRules


async def test_a_slow_device_delays_nobody_on_another() -> None:
    turns = ScriptQueue(ScriptRules())
    async with turns.turn(1, "H100"), turns.turn(2, "T4"):
        waiting = asyncio.ensure_future(_once(turns, 3, "H100"))
        async with turns.turn(4, "A100"):
            assert not waiting.done()
    await waiting


async def test_each_person_has_one_at_once() -> None:
    turns = ScriptQueue(ScriptRules())
    async with turns.turn(1, "H100"):
        with pytest.raises(TooManyRequests, match="runs or waits already"):
            await _once(turns, 1, "T4")
    await _once(turns, 1, "T4")


async def test_so_many_wait_for_a_device_and_no_more() -> None:
    turns = ScriptQueue(ScriptRules(waiting_limit=1))
    async with turns.turn(1, "T4"):
        waiting = asyncio.ensure_future(_once(turns, 2, "T4"))
        await asyncio.sleep(0)
        with pytest.raises(TooManyRequests, match="1 scripts wait for T4"):
            await _once(turns, 3, "T4")
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        third = asyncio.ensure_future(_once(turns, 3, "T4"))
    await third


async def test_so_many_an_hour() -> None:
    now_s = [0.0]
    turns = ScriptQueue(ScriptRules(per_hour=2), lambda: now_s[0])
    await _once(turns, 1, "T4")
    now_s[0] = 600.0
    await _once(turns, 1, "T4")
    with pytest.raises(TooManyRequests, match="2 scripts an hour") as refused:
        await _once(turns, 1, "T4")
    assert (3000.0, "Try again in 50 min.") == (refused.value.retry_after_s, refused.value.hint)
    now_s[0] = 3600.0
    await _once(turns, 1, "T4")


async def _once(turns: ScriptQueue, user_id: int, device: str) -> None:
    async with turns.turn(user_id, device):
        pass
