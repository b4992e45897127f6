"""New boards: from a folder on the server, or from one reference file."""

from typing import Annotated

from fastapi import APIRouter, File, Form, Response, UploadFile

from kernelbot.api.uploads import file_name
from kernelbot.boards.model import Visibility
from kernelbot.boards.pages.fields import read_deadline
from kernelbot.domain.errors import UserError
from kernelbot.schemas.common import NAME_MAX
from kernelbot.web.organisers import HOME, OrganiserPage, Typed
from kernelbot.web.pages import PostedPage, go
from kernelbot.web.paths import organised_path

router = APIRouter(prefix=f"{HOME}/new", include_in_schema=False)

_Device = Annotated[str, Form(max_length=NAME_MAX)]


@router.get("")
async def show_ways(page: OrganiserPage) -> Response:
    return page(
        "organise/new.html",
        tab="boards",
        folders=await page.services.problem_folders.names(),
        devices=[device.name for device in await page.services.devices.list_devices()],
    )


@router.post("/folder")
async def create_from_folder(
    page: PostedPage,
    directory: Typed = "",
    visibility: Annotated[Visibility, Form()] = Visibility.PUBLIC,
) -> Response:
    """A board from a folder on the server's disk."""
    board = await page.services.problem_folders.open_board(page.user, directory, visibility)
    return go(f"{organised_path(board.name)}?done=created")


@router.post("/reference")
async def create_from_reference(
    page: PostedPage,
    file: Annotated[UploadFile, File()],
    name: Typed = "",
    deadline: Typed = "",
    device: Annotated[list[_Device] | None, Form()] = None,
) -> Response:
    """A board from one file with the reference and what belongs to it."""
    until = read_deadline(deadline)
    if until is None:
        raise UserError("A deadline is missing.", hint="Choose one; it can be removed later.")
    board = await page.services.boards.create_from_reference(
        page.user,
        name=name.strip(),
        file_name=file_name(file),
        content=await file.read(),
        deadline=until,
        devices=tuple(device or ()),
    )
    return go(f"{organised_path(board.name)}?done=created")
