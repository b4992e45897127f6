"""Problems by sync: from a git repository, or from an uploaded archive. For admins."""

from typing import Annotated

from fastapi import APIRouter, File, Form, UploadFile

from kernelbot.api.dependencies import AdminsFirst, ServicesDep, Viewer
from kernelbot.api.errors import documented
from kernelbot.api.uploads import file_name
from kernelbot.boards.model import Visibility
from kernelbot.boards.sync.model import SyncOptions, SyncOutcome
from kernelbot.boards.sync.schemas import SyncBody
from kernelbot.schemas.common import Name

router = APIRouter(prefix="/sync", tags=["organisers"], route_class=AdminsFirst)


@router.post("", responses=documented(400, 401, 403, 409, 413, 422, 503))
async def sync_repository(services: ServicesDep, viewer: Viewer, body: SyncBody) -> SyncOutcome:
    """Create and update boards from a repository's competition files, in one transaction."""
    return await services.sync.from_repository(viewer, body.repository, body.ref, body.options())


@router.post("/archive", responses=documented(400, 401, 403, 409, 413, 422, 503))
async def sync_archive(
    services: ServicesDep,
    viewer: Viewer,
    file: Annotated[UploadFile, File(description="A zip, tar or tar.gz file.")],
    force: Annotated[bool, Form()] = False,
    dry_run: Annotated[bool, Form()] = False,
    problem_set: Annotated[Name | None, Form()] = None,
    visibility: Annotated[Visibility, Form()] = Visibility.PUBLIC,
) -> SyncOutcome:
    """The same from an archive of such a repository."""
    options = SyncOptions(force, dry_run, problem_set, visibility)
    return await services.sync.from_archive(viewer, file.file, file_name(file), options)
