"""Draws charts, if the library is there; without it nothing is missing but them."""

import asyncio
import importlib.util
import json
import sys
from enum import StrEnum

import structlog

from kernelbot.render.charts import Chart

_LIMIT_S = 20.0
_AT_ONCE = 2
_WAITING = 16
"""How many charts may wait for their turn; more are refused, so that nobody can pile them up."""
log = structlog.get_logger()


class PictureFormat(StrEnum):
    """What a chart can be drawn as."""

    PNG = "png"
    SVG = "svg"


class Drawing:
    """Draws charts, two at a time, each in a process of its own."""

    def __init__(self) -> None:
        self.available = importlib.util.find_spec("vl_convert") is not None
        self._turns = asyncio.Semaphore(_AT_ONCE)
        self._waiting = 0

    async def draw(self, chart: Chart, form: PictureFormat) -> bytes | None:
        """The picture; None if it can't be drawn: the library isn't installed, too many charts
        wait, or drawing failed, which the log says."""
        if not self.available or self._waiting >= _WAITING:
            return None
        self._waiting += 1
        try:
            async with self._turns:
                return await _drawn(chart, form)
        finally:
            self._waiting -= 1


async def _drawn(chart: Chart, form: PictureFormat) -> bytes | None:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-m", "kernelbot.drawing.process", form),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(_LIMIT_S):
            picture, errors = await process.communicate(json.dumps(chart).encode())
    except TimeoutError:
        log.warning("chart_not_drawn", error=f"it took over {_LIMIT_S} s")
        return None
    finally:
        if process.returncode is None:  # too slow, or nobody waits for it any more
            process.kill()
            await process.wait()
    if process.returncode != 0:
        log.warning("chart_not_drawn", error=errors.decode("utf-8", "replace")[-500:])
        return None
    return picture
