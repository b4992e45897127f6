"""Submissions as Parquet: to download, or to a dataset. Authors are pseudonyms."""

import shutil
import tempfile
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import FileResponse
from starlette.background import BackgroundTask

from kernelbot.api.dependencies import ServicesDep, Viewer
from kernelbot.api.errors import documented
from kernelbot.domain.export import ExportChoice
from kernelbot.domain.types import User
from kernelbot.schemas.common import Name
from kernelbot.schemas.exports import ExportView, HubBody
from kernelbot.services import Services

router = APIRouter(prefix="/exports", tags=["organisers"])

_TYPE = "application/vnd.apache.parquet"


@router.get(
    "",
    response_class=FileResponse,
    responses={200: {"content": {_TYPE: {}}}, **documented(401, 403, 404, 422, 503)},
)
async def export_file(
    services: ServicesDep,
    viewer: Viewer,
    board: Annotated[list[Name] | None, Query(description="Once per board. Default: all.")] = None,
) -> FileResponse:
    """A Parquet file with one row per submission. For a board's organisers; of all boards for
    admins."""
    return await parquet_answer(services, viewer, ExportChoice(names=tuple(board or ())))


async def parquet_answer(services: Services, viewer: User, choice: ExportChoice) -> FileResponse:
    """The file as an answer; it is gone once it has been sent. Raises as `Exports.to_file`."""
    folder = Path(tempfile.mkdtemp(prefix="kernelbot-export-"))
    try:
        file = folder / "submissions.parquet"
        await services.exports.to_file(viewer, choice, file)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    gone = BackgroundTask(shutil.rmtree, folder, ignore_errors=True)
    return FileResponse(file, media_type=_TYPE, filename=file.name, background=gone)


@router.post("/hub", responses=documented(400, 401, 403, 404, 409, 413, 422, 503))
async def export_to_hub(services: ServicesDep, viewer: Viewer, body: HubBody) -> ExportView:
    """Upload the same to the configured dataset. Public only once every board has ended."""
    done = await services.exports.to_hub(viewer, body.choice(), body.name, private=body.private)
    return ExportView.of(done)
