"""`GET /guide`: the documentation of this server's own version."""

import asyncio
import mimetypes
from dataclasses import dataclass, field

from fastapi import APIRouter, Request, Response

from kernelbot.domain.errors import NotFound
from kernelbot.domain.versioned_cache import VersionedCache
from kernelbot.web.guide.contents import ROOT, Contents
from kernelbot.web.guide.writing import WrittenPage, written
from kernelbot.web.pages import PageDep

router = APIRouter(prefix=ROOT, include_in_schema=False)

_KEPT = 32
"""Pages, of 70 kB at most."""
_FILE_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "public, max-age=3600",
}
"""Pictures have styles of their own; opened by themselves they can do nothing."""


@dataclass(frozen=True)
class Guide:
    """The documentation and the pages of it that were asked for last."""

    contents: Contents = field(default_factory=Contents)
    kept: VersionedCache[str, WrittenPage] = field(default_factory=lambda: VersionedCache(_KEPT))

    async def page(self, path: str) -> WrittenPage:
        """A page, by its path below `docs/`."""
        found = self.kept.get(path, None)
        if found is None:
            found = await asyncio.to_thread(lambda: written(self.contents.text(path), path))
            self.kept.keep(path, None, found)
        return found


def guide_of(request: Request) -> Guide:
    found = request.app.state.guide
    assert isinstance(found, Guide)
    return found


@router.get("")
async def overview(request: Request, page: PageDep) -> Response:
    return await _shown(request, page, ROOT)


@router.get("/{path:path}")
async def part(request: Request, page: PageDep, path: str) -> Response:
    """A page, or a file that pages show. Raises `NotFound`."""
    guide, where = guide_of(request), f"{ROOT}/{path}"
    file = guide.contents.files.get(where)
    if file is None:
        return await _shown(request, page, where)
    content = await asyncio.to_thread(guide.contents.content, file)
    kind = mimetypes.guess_type(file)[0] or "application/octet-stream"
    return Response(content, media_type=kind, headers=_FILE_HEADERS)


async def _shown(request: Request, page: PageDep, where: str) -> Response:
    guide = guide_of(request)
    path = guide.contents.pages.get(where)
    if path is None:
        raise NotFound("The documentation has no such page.")
    return page(
        "guide.html", guide=guide.contents.sections, path_shown=path, shown=await guide.page(path)
    )
