"""Charts become pictures, and what can't be drawn becomes None."""

import asyncio
from datetime import UTC, datetime

import pytest

from kernelbot.domain.ranking import Achieved
from kernelbot.drawing.drawing import Drawing, PictureFormat
from kernelbot.render.charts import progress_chart

pytest.importorskip("vl_convert", reason="charts are an extra")
CHART = progress_chart("<script>", [Achieved(datetime(2026, 1, 1, tzinfo=UTC), 1.0)])


@pytest.mark.parametrize(
    ("form", "starts"), [(PictureFormat.PNG, b"\x89PNG"), (PictureFormat.SVG, b"<svg")]
)
async def test_a_chart_becomes_a_picture(form: PictureFormat, starts: bytes) -> None:
    picture = await Drawing().draw(CHART, form)
    assert picture is not None
    assert (starts, False) == (picture[: len(starts)], b"<script" in picture)


async def test_what_is_no_chart_is_not_drawn() -> None:
    assert await Drawing().draw({"mark": 7}, PictureFormat.SVG) is None


async def test_charts_that_pile_up_are_refused() -> None:
    drawing = Drawing()
    asked = [asyncio.create_task(drawing.draw(CHART, PictureFormat.SVG)) for _ in range(40)]
    await asyncio.sleep(0)
    refused = [task for task in asked if task.done()]
    for task in asked:
        task.cancel()
    await asyncio.gather(*asked, return_exceptions=True)
    assert [None] * 24 == [task.result() for task in refused]
