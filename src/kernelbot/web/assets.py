"""Styles, scripts and icon: files under addresses that name their content."""

import asyncio
import gzip
import hashlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, Header, Response
from starlette.exceptions import HTTPException

_FOLDER = Path(__file__).with_name("static")
_MEDIA_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
}
_DIGITS = 12
_REFUSED = ("q=0", "q=0.0", "q=0.00", "q=0.000")
_HEADERS = {
    "Cache-Control": "public, max-age=31536000, immutable",
    "Vary": "Accept-Encoding",
    "X-Content-Type-Options": "nosniff",
}


class Assets:
    """Read once. As an address changes with the content, a browser may keep each for ever. All
    have one hash of all of them, so that scripts import each other by relative addresses."""

    def __init__(self) -> None:
        files = sorted(file for file in _FOLDER.iterdir() if file.suffix in _MEDIA_TYPES)
        contents = {file.name: file.read_bytes() for file in files}
        folder = f"/static/{_hash(contents)}"
        self._paths = {name: f"{folder}/{name}" for name in contents}
        self._contents = {self._paths[name]: content for name, content in contents.items()}

    def path(self, name: str) -> str:
        """Where a file of `static/` is."""
        return self._paths[name]

    def content(self, path: str) -> bytes | None:
        """What is there; None: nothing."""
        return self._contents.get(path)


def router(assets: Assets) -> APIRouter:
    found = APIRouter(include_in_schema=False)

    @found.get("/static/{content_hash}/{name}")
    async def static_file(
        content_hash: str, name: str, accept_encoding: Annotated[str, Header()] = ""
    ) -> Response:
        """A file, for ever."""
        content = assets.content(f"/static/{content_hash}/{name}")
        if content is None:
            raise HTTPException(404)
        media_type, headers = _MEDIA_TYPES[Path(name).suffix], _HEADERS
        if _takes_gzip(accept_encoding):
            # The editor takes 30 ms the first time, in which others are answered.
            content = await asyncio.to_thread(_compressed, content)
            headers = headers | {"Content-Encoding": "gzip"}
        return Response(content, media_type=media_type, headers=headers)

    return found


def _takes_gzip(accepted: str) -> bool:
    """Whether a request's Accept-Encoding names gzip, unless it does so to refuse it."""
    for one in accepted.lower().split(","):
        name, *parameters = (part.strip() for part in one.split(";"))
        if name == "gzip":
            return not any(part.replace(" ", "") in _REFUSED for part in parameters)
    return False


@cache
def _compressed(content: bytes) -> bytes:
    """The editor takes a third. Nothing here is secret, so that no length tells any of it; pages
    hold tokens beside what strangers wrote, and stay as they are."""
    return gzip.compress(content, mtime=0)


def _hash(contents: Mapping[str, bytes]) -> str:
    found = hashlib.sha256()
    for name, content in contents.items():
        found.update(f"{name} {len(content)}\n".encode() + content)
    return found.hexdigest()[:_DIGITS]
