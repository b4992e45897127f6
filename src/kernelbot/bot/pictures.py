"""Charts as files of a message."""

from kernelbot.bot.answers import Attached
from kernelbot.drawing.drawing import Drawing, PictureFormat
from kernelbot.render.charts import Chart


class MessageCharts:
    def __init__(self) -> None:
        self._drawing = Drawing()

    async def draw(self, name: str, chart: Chart) -> list[Attached]:
        """The picture as a file; nothing if it can't be drawn."""
        png = await self._drawing.draw(chart, PictureFormat.PNG)
        return [] if png is None else [Attached(name, png)]

    async def close(self) -> None:
        """End the process that draws."""
        await self._drawing.close()
