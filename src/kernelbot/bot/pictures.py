"""Charts as pictures, if the library is there; without it nothing is missing but them."""

import asyncio
import importlib.util
import json
import sys

import structlog

from kernelbot.bot.answers import Attached
from kernelbot.render.charts import Chart

_LIMIT_S = 20.0
_AT_ONCE = 2
log = structlog.get_logger()


class Pictures:
    """Draws charts, two at a time, each in a process of its own."""

    def __init__(self) -> None:
        self._there = importlib.util.find_spec("vl_convert") is not None
        self._turns = asyncio.Semaphore(_AT_ONCE)

    async def draw(self, name: str, chart: Chart) -> list[Attached]:
        """The picture as a file; nothing if it can't be drawn, which the log says."""
        if not self._there:
            return []
        async with self._turns:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-P", "-m", "kernelbot.bot.chart_process"),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
            )
            try:
                async with asyncio.timeout(_LIMIT_S):
                    png, errors = await process.communicate(json.dumps(chart).encode())
            except TimeoutError:
                process.kill()
                await process.wait()
                log.warning("chart_not_drawn", name=name, error=f"it took over {_LIMIT_S} s")
                return []
        if process.returncode != 0:
            log.warning(
                "chart_not_drawn", name=name, error=errors.decode("utf-8", "replace")[-500:]
            )
            return []
        return [Attached(name, png)]
