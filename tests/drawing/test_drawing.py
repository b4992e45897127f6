"""Charts become pictures, and what can't be drawn becomes None."""

import asyncio
import contextlib
import os
import signal
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from kernelbot.drawing import chart_process, kept_process, kept_program
from kernelbot.drawing import drawing as module
from kernelbot.drawing.drawing import Drawing, PictureFormat
from kernelbot.ranking.model import Score
from kernelbot.render.charts import progress_chart
from tests.support.waiting import until

pytest.importorskip("vl_convert", reason="charts are an extra")
CHART = progress_chart(
    "<script>\n\u2028", [Score(1, "ada", 1.0, None, datetime(2026, 1, 1, tzinfo=UTC))]
)
SVG = PictureFormat.SVG


@pytest.fixture
async def drawing() -> AsyncIterator[Drawing]:
    found = Drawing()
    yield found
    await found.close()


def drawers() -> list[int]:
    """The processes that this one has begun to draw with."""
    children = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split()
    return [int(pid) for pid in children if _draws(pid)]


def _draws(pid: str) -> bool:
    with contextlib.suppress(OSError):  # it has ended meanwhile
        return chart_process.__name__.encode() in Path(f"/proc/{pid}/cmdline").read_bytes()
    return False


def status_of(pid: int) -> str:
    return Path(f"/proc/{pid}/status").read_text()


async def test_charts_become_pictures_in_one_process(drawing: Drawing) -> None:
    pictures, used = [], set()
    for form in (PictureFormat.PNG, SVG, SVG):
        pictures.append(await drawing.draw(CHART, form) or b"")
        used.update(drawers())
    assert [b"\x89PNG", b"<svg", b"<svg"] == [picture[:4] for picture in pictures]
    assert (False, 1) == (b"<script" in pictures[1], len(used))
    await drawing.close()
    assert [] == drawers()


@pytest.mark.exhaustive  # each run has test_charts_become_pictures_in_one_process
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
async def test_as_root_it_draws_as_nobody(drawing: Drawing) -> None:
    assert await drawing.draw(CHART, PictureFormat.PNG) is not None
    (pid,) = drawers()
    assert "Uid:\t65534\t65534\t65534\t65534\n" in status_of(pid)


@pytest.mark.exhaustive  # each run has test_charts_become_pictures_in_one_process
async def test_what_is_no_chart_is_not_drawn_and_the_next_one_is(drawing: Drawing) -> None:
    refused = await drawing.draw({"mark": 7}, SVG)
    used = drawers()
    drawn = await drawing.draw(CHART, SVG)
    assert (None, True, used) == (refused, drawn is not None, drawers())


@pytest.mark.exhaustive  # each run has test_charts_become_pictures_in_one_process
async def test_a_process_that_was_killed_is_replaced(drawing: Drawing) -> None:
    await drawing.draw(CHART, SVG)
    for pid in drawers():
        os.kill(pid, signal.SIGKILL)
    assert await drawing.draw(CHART, SVG) is not None


@pytest.mark.exhaustive  # each run has test_a_chart_that_takes_too_long_is_given_up
async def test_a_process_that_has_drawn_enough_is_replaced(
    drawing: Drawing, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_program, "_REQUESTS", 1)
    drawn = await drawing.draw(CHART, SVG)
    assert (True, []) == (drawn is not None, drawers())


@pytest.mark.exhaustive  # each run has test_a_chart_that_takes_too_long_is_given_up
async def test_a_process_without_work_ends_and_another_draws_the_next(
    drawing: Drawing, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_process, "_IDLE_S", 0.5)
    await drawing.draw(CHART, SVG)
    await until(lambda: not drawers())
    assert await drawing.draw(CHART, SVG) is not None


async def test_a_chart_that_takes_too_long_is_given_up(
    drawing: Drawing, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_LIMIT_S", 0.05)
    refused = await drawing.draw(CHART, SVG)
    assert (None, []) == (refused, drawers())


async def test_charts_that_pile_up_are_refused(drawing: Drawing) -> None:
    asked = [asyncio.create_task(drawing.draw(CHART, SVG)) for _ in range(40)]
    await asyncio.sleep(0)
    refused = [task for task in asked if task.done()]
    for task in asked:
        task.cancel()
    await asyncio.gather(*asked, return_exceptions=True)
    assert [None] * 24 == [task.result() for task in refused]
    assert [] == drawers()
