"""Submissions as Parquet or CSV: to download, or to a dataset. Authors are pseudonyms."""

import shutil
import tempfile
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import FileResponse
from starlette.background import BackgroundTask

from kernelbot.accounts.model import User
from kernelbot.api.dependencies import ServicesDep, Viewer
from kernelbot.api.errors import documented
from kernelbot.platform.exports.model import ExportChoice, Exported, ExportFormat
from kernelbot.platform.exports.schemas import HubBody
from kernelbot.schemas.common import Name
from kernelbot.services import Services

router = APIRouter(prefix="/exports", tags=["organisers"])

_TYPES = {
    ExportFormat.PARQUET: "application/vnd.apache.parquet",
    ExportFormat.CSV: "text/csv; charset=utf-8",
}


@router.get(
    "",
    response_class=FileResponse,
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
) -> FileResponse:
    """A Parquet file with one row per submission, or CSV with one row per run. For a board's
    organisers; of all boards for admins."""
    return await file_answer(services, viewer, ExportChoice(names=tuple(board or ())), form)


async def file_answer(
    services: Services, viewer: User, choice: ExportChoice, form: ExportFormat
) -> FileResponse:
    """The file as an answer; it is gone once it has been sent. Raises as `Exports.to_file`."""
    folder = Path(tempfile.mkdtemp(prefix="kernelbot-export-"))
    try:
        file = folder / f"submissions.{form}"
        await services.exports.to_file(viewer, choice, file, form)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    gone = BackgroundTask(shutil.rmtree, folder, ignore_errors=True)
    return FileResponse(file, media_type=_TYPES[form], filename=file.name, background=gone)


@router.post("/hub", responses=documented(400, 401, 403, 404, 409, 413, 422, 503))
async def export_to_hub(services: ServicesDep, viewer: Viewer, body: HubBody) -> Exported:
    """Upload the Parquet file to the configured dataset. Public only once every board has ended."""
    return await services.exports.to_hub(viewer, body.choice(), body.name, private=body.private)
