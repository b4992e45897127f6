"""Submissions as Parquet or CSV: to download, or to a dataset. Authors are pseudonyms."""

import asyncio
import os
from collections.abc import Iterator
from typing import Annotated, BinaryIO

from fastapi import APIRouter, Query
from fastapi.responses import StreamingResponse

from kernelbot.accounts.model import User
from kernelbot.api.dependencies import ServicesDep, Viewer
from kernelbot.api.errors import documented
from kernelbot.domain.scratch import scratch_folder
from kernelbot.platform.exports.model import ExportChoice, Exported, ExportFormat
from kernelbot.platform.exports.schemas import HubBody
from kernelbot.schemas.common import Name
from kernelbot.services import Services

router = APIRouter(prefix="/exports", tags=["organisers"])

_TYPES = {
    ExportFormat.PARQUET: "application/vnd.apache.parquet",
    ExportFormat.CSV: "text/csv; charset=utf-8",
}
_PIECE_BYTES = 64 << 10


@router.get(
    "",
    response_class=StreamingResponse,
    responses={
        200: {"content": {one: {} for one in _TYPES.values()}},
        **documented(401, 403, 404, 422, 503),
    },
)
async def export_file(
    services: ServicesDep,
    viewer: Viewer,
    board: Annotated[list[Name] | None, Query(description="Once per board. Default: all.")] = None,
    form: Annotated[ExportFormat, Query(alias="format")] = ExportFormat.PARQUET,
) -> StreamingResponse:
    """A Parquet file with one row per submission, or CSV with one row per run. For a board's
    organisers; of all boards for admins."""
    return await file_answer(services, viewer, ExportChoice(names=tuple(board or ())), form)


async def file_answer(
    services: Services, viewer: User, choice: ExportChoice, form: ExportFormat
) -> StreamingResponse:
    """The file as an answer. It has lost its name by then, so that nothing is left of it once it is
    closed: whoever asked may leave in the middle. Raises as `Exports.to_file`."""
    with scratch_folder("kernelbot-export-") as folder:
        path = folder / f"submissions.{form}"
        await services.exports.to_file(viewer, choice, path, form)
        file = await asyncio.to_thread(path.open, "rb")
    headers = {
        "Content-Disposition": f'attachment; filename="{path.name}"',
        "Content-Length": str(os.fstat(file.fileno()).st_size),
        "X-Content-Type-Options": "nosniff",
    }
    return StreamingResponse(_pieces(file), media_type=_TYPES[form], headers=headers)


def _pieces(file: BinaryIO) -> Iterator[bytes]:
    with file:
        while piece := file.read(_PIECE_BYTES):
            yield piece


@router.post("/hub", responses=documented(400, 401, 403, 404, 409, 413, 422, 503))
async def export_to_hub(services: ServicesDep, viewer: Viewer, body: HubBody) -> Exported:
    """Upload the Parquet file to the configured dataset. Public only once every board has ended."""
    return await services.exports.to_hub(viewer, body.choice(), body.name, private=body.private)
