"""Draws charts, if the library is there; without it nothing is missing but them."""

import importlib.util
import json
from enum import StrEnum

from kernelbot.drawing import chart_process
from kernelbot.drawing.kept_program import PooledProgram
from kernelbot.render.charts import Chart

_LIMIT_S = 20.0


class PictureFormat(StrEnum):
    PNG = "png"
    SVG = "svg"


class Drawing:
    """Draws charts. For one event loop."""

    def __init__(self) -> None:
        self.available = importlib.util.find_spec("vl_convert") is not None
        self._program = PooledProgram(chart_process.__name__)

    async def draw(self, chart: Chart, form: PictureFormat) -> bytes | None:
        """The picture; None if it can't be drawn: the library isn't installed, too many charts
        wait, or drawing failed, which the log says."""
        if not self.available:
            return None
        return await self._program.ask(
            json.dumps({"form": form, "chart": chart}).encode(), _LIMIT_S
        )

    async def close(self) -> None:
        """End the process. Another chart would begin another one."""
        await self._program.close()
