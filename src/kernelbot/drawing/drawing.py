"""Draws charts, if the library is there; without it nothing is missing but them."""

import asyncio
import importlib.util
import json
from enum import StrEnum

import structlog

from kernelbot.drawing.kept_process import DrawingProcess, NotDrawn
from kernelbot.render.charts import Chart

_LIMIT_S = 20.0
_AT_ONCE = 16
"""How many charts may wait or be drawn; more are refused, so that nobody can pile them up."""
_CHARTS = 500
"""How many a process draws before another takes its place."""
log = structlog.get_logger()


class PictureFormat(StrEnum):
    """What a chart can be drawn as."""

    PNG = "png"
    SVG = "svg"


class Drawing:
    """Draws charts, one after another, in a process that is kept for the next ones. It ends by
    itself if none comes. For one event loop."""

    def __init__(self) -> None:
        self.available = importlib.util.find_spec("vl_convert") is not None
        self._turn = asyncio.Lock()
        self._asked = 0
        self._kept: DrawingProcess | None = None

    async def draw(self, chart: Chart, form: PictureFormat) -> bytes | None:
        """The picture; None if it can't be drawn: the library isn't installed, too many charts
        wait, or drawing failed, which the log says."""
        if not self.available or self._asked >= _AT_ONCE:
            return None
        request = json.dumps({"form": form, "chart": chart}).encode()
        self._asked += 1
        try:
            async with self._turn, asyncio.timeout(_LIMIT_S):
                return await self._drawn(request)
        except TimeoutError:
            log.warning("chart_not_drawn", error=f"it took over {_LIMIT_S} s")
        except NotDrawn as error:
            log.warning("chart_not_drawn", error=str(error)[-500:])
        except EOFError:
            log.warning("chart_not_drawn", error="the process that draws ended")
        finally:
            self._asked -= 1
        return None

    async def close(self) -> None:
        """End the process. Another chart would begin another one."""
        kept, self._kept = self._kept, None
        if kept is not None:
            await kept.end()

    async def _drawn(self, request: bytes) -> bytes:
        kept, self._kept = self._kept, None
        if kept is not None:
            try:
                return await self._drawn_by(kept, request)
            except EOFError:
                pass  # it had nothing to do for long, or was killed: a new one draws the chart
        return await self._drawn_by(await DrawingProcess.start(), request)

    async def _drawn_by(self, process: DrawingProcess, request: bytes) -> bytes:
        """Keeps the process, unless it has drawn enough, has ended, or is still at work."""
        usable = False
        try:
            picture = await process.draw(request)
            usable = process.charts < _CHARTS
            return picture
        except NotDrawn:
            usable = True
            raise
        finally:
            if usable:
                self._kept = process
            else:
                await process.end()
