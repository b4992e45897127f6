"""Style, script and icon: small files under addresses that name their content."""

import hashlib
from pathlib import Path

from fastapi import APIRouter, Response
from starlette.exceptions import HTTPException

_FOLDER = Path(__file__).with_name("static")
_MEDIA_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
_DIGITS = 12
_HEADERS = {
    "Cache-Control": "public, max-age=31536000, immutable",
    "X-Content-Type-Options": "nosniff",
}


class Assets:
    """Read once. As an address changes with the content, a browser may keep each for ever."""

    def __init__(self) -> None:
        files = [file for file in _FOLDER.iterdir() if file.suffix in _MEDIA_TYPES]
        self._paths = {file.name: f"/static/{_hash(file)}/{file.name}" for file in files}
        self._contents = {self._paths[file.name]: file.read_bytes() for file in files}

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


def _hash(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()[:_DIGITS]
