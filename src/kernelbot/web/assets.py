"""Styles, scripts and icon: files under addresses that name their content."""

import hashlib
from collections.abc import Mapping
from pathlib import Path

from fastapi import APIRouter, Response
from starlette.exceptions import HTTPException

_FOLDER = Path(__file__).with_name("static")
_MEDIA_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
}
_DIGITS = 12
_HEADERS = {
    "Cache-Control": "public, max-age=31536000, immutable",
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
    """The route of the files."""
    found = APIRouter(include_in_schema=False)

    @found.get("/static/{content_hash}/{name}")
    async def static_file(content_hash: str, name: str) -> Response:
        """A file, for ever."""
        content = assets.content(f"/static/{content_hash}/{name}")
        if content is None:
            raise HTTPException(404)
        return Response(content, media_type=_MEDIA_TYPES[Path(name).suffix], headers=_HEADERS)

    return found


def _hash(contents: Mapping[str, bytes]) -> str:
    found = hashlib.sha256()
    for name, content in contents.items():
        found.update(f"{name} {len(content)}\n".encode() + content)
    return found.hexdigest()[:_DIGITS]
