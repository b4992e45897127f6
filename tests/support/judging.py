"""Judging in the tests' own process: claims from the queue, and results without a judge."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

from kernelbot.moderation.reviews.model import ReviewRules
from kernelbot.moderation.triage import Triage
from kernelbot.protocol import Limits, SamplingRules, SandboxMode
from kernelbot.runs.claims import Claim
from kernelbot.runs.lifecycle import RunLifecycle, RunRules
from kernelbot.runs.queue.model import QueueRules
from tests.fakes.host import result_of, words_of
from tests.support.world import DEVICES, World


def judging(
    world: World,
    rules: QueueRules | None = None,
    stale_s: float = 30,
    sampling: SamplingRules | None = None,
    *,
    known_right: bool = False,
    triage: Triage | None = None,
) -> RunLifecycle:
    """What a worker has. Nothing is judged but what was submitted, and what is known to be right if
    that is asked for."""
    everything = RunRules(
        Limits(),
        sampling or SamplingRules(),
        SandboxMode.NONE,
        stale_s=stale_s,
        review=ReviewRules(known_right=known_right),
        queue=rules or QueueRules(),
    )
    return RunLifecycle(world.database, DEVICES, everything, triage)


@contextlib.asynccontextmanager
async def judged_at_once(world: World) -> AsyncIterator[None]:
    """While the block runs, whatever comes for a device is judged as its first line says, see
    `tests.fakes.host`: what a worker does, without its process, its launcher and its host."""
    stop = asyncio.Event()
    judge = judging(world, sampling=SamplingRules(min_samples=3))
    task = asyncio.create_task(_judge_all(judge, stop))
    try:
        yield
    finally:
        stop.set()
        await task


async def _judge_all(judge: RunLifecycle, stop: asyncio.Event) -> None:
    while not stop.is_set():
        claims = [await judge.claim(one.spec.name, "w") for one in DEVICES]
        for claim in filter(None, claims):
            assert await judge.launched(claim, "w", "handle")
            await judge.finish(claim, "w", result_of(claim.spec, words_of(claim.spec)))
        if not any(claims):
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), 0.01)


async def begun_duel(judge: RunLifecycle, device: str = "CPU") -> Claim:
    """The duel whose turn it is, being judged."""
    claim = await judge.claim(device, "w")
    assert claim is not None
    assert claim.spec.opponent is not None
    assert await judge.launched(claim, "w", "handle")
    return claim


async def end_duel(judge: RunLifecycle, claim: Claim, ratio: tuple[float, float, float]) -> None:
    """It shows this ratio, with its interval; and once more, if it has to be shown twice."""
    await show(judge, claim, ratio)
    again = await judge.claim(claim.spec.device.name, "w")
    if again is None or again.run_id != claim.run_id:
        if again is not None:
            await judge.give_back(again, "w", "the worker stopped")
        return
    assert await judge.launched(again, "w", "handle")
    await show(judge, again, ratio)


async def show(judge: RunLifecycle, claim: Claim, ratio: tuple[float, float, float]) -> None:
    """It shows this ratio, once."""
    result = result_of(claim.spec, [str(number) for number in ratio])
    assert await judge.finish(claim, "w", result)


async def fought(world: World, ratio: tuple[float, float, float], device: str = "CPU") -> None:
    """The duel whose turn it is shows this."""
    judge = judging(world)
    await end_duel(judge, await begun_duel(judge, device), ratio)
