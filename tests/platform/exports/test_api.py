"""Exports as downloads."""

import asyncio
import os
import tempfile
from pathlib import Path

import pytest
from starlette.types import Message

from kernelbot.accounts.model import NewToken
from tests.support.door import Door

PATH = "/api/v1/exports"


async def test_an_export_says_how_long_it_is_and_is_kept_by_nobody(door: Door) -> None:
    await door.world.board()
    await door.world.submit()
    answer = await door.admin.get(PATH, params={"board": "sort", "format": "csv"})
    assert (200, str(len(answer.content)), "no-store") == (
        answer.status_code,
        answer.headers["content-length"],
        answer.headers["cache-control"],
    )
    assert 'attachment; filename="submissions.csv"' == answer.headers["content-disposition"]
    assert answer.text.startswith("submission,board,")


async def test_nothing_is_left_of_an_export_whose_reader_leaves_in_the_middle(
    door: Door, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await door.world.board()
    noise = os.urandom(150_000).hex()  # too much for one piece, however it is packed
    await door.world.submit(content=f"# {noise}".encode())
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    status = await _leaving(door, door.world.admin)
    assert (200, []) == (status, os.listdir(tmp_path))  # noqa: PTH208


async def _leaving(door: Door, reader: NewToken) -> int:
    """Ask for an export and leave once its first piece has come; the answer's status."""
    gone, sent = asyncio.Event(), list[Message]()
    scope = {
        "type": "http",
        "method": "GET",
        "path": PATH,
        "query_string": b"board=sort",
        "headers": [(b"authorization", f"Bearer {reader.token}".encode())],
        "server": ("test", 80),
        "client": ("127.0.0.1", 1),
    }

    async def receive() -> Message:
        await gone.wait()
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        sent.append(message)
        if message.get("more_body"):
            gone.set()
            await asyncio.Event().wait()  # whoever has gone reads nothing more

    await door.app(scope, receive, send)
    return int(sent[0]["status"])
