"""Files that runs left, as answers: a browser must save them and not run them."""

import asyncio

from fastapi import Response

from kernelbot.ranking.model import StandingsPage
from kernelbot.render.standings import standings_csv
from kernelbot.runs.files import RunFile, safe_name

_HARMLESS = frozenset(
    {"text/plain", "text/csv", "application/json", "application/gzip", "application/zip"}
)
"""Types that no browser runs."""


def media_type(file: RunFile) -> str:
    """The file's media type if it is harmless, else that of unknown bytes."""
    return file.media_type if file.media_type in _HARMLESS else "application/octet-stream"


async def standings_answer(page: StandingsPage) -> Response:
    """A ranking as CSV, named for its board and device. Written in a thread: of many rows that
    takes longer than others should wait."""
    name = safe_name(f"{page.board}-{page.device}.csv")
    headers = {
        "Content-Disposition": f'attachment; filename="{name}"',
        "X-Content-Type-Options": "nosniff",
        "Cache-Control": "private, max-age=60",
    }
    text = await asyncio.to_thread(standings_csv, page.standings)
    return Response(text, media_type="text/csv; charset=utf-8", headers=headers)


def as_attachment(file: RunFile) -> dict[str, str]:
    """Headers that make it a download under its name."""
    return {
        "Content-Disposition": f'attachment; filename="{safe_name(file.name)}"',
        "X-Content-Type-Options": "nosniff",
    }
