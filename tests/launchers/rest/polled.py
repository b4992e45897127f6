"""What tests of a launcher ask again and again."""

import asyncio

from kernelbot.launchers.base import Launcher, Outcome


class Polled:
    """With a launcher whose jobs are asked about one by one."""

    launcher: Launcher

    async def poll(self, handle: str) -> Outcome:
        return (await self.launcher.poll([handle]))[handle]

    async def over(self, handle: str, within_s: float = 60) -> Outcome:
        """What the job ends with."""
        async with asyncio.timeout(within_s):
            while True:
                outcome = await self.poll(handle)
                if outcome.state.is_over:
                    return outcome
                await asyncio.sleep(0.02)
