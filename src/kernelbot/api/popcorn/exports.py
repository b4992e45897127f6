"""Exports to the configured dataset, as other front ends of this kind ask for them."""

from typing import Annotated

from fastapi import APIRouter
from pydantic import BaseModel, Field, StrictBool, StrictInt

from kernelbot.api.dependencies import ServicesDep
from kernelbot.api.popcorn.auth import Organiser
from kernelbot.api.popcorn.models import Ok
from kernelbot.api.popcorn.routing import ERRORS, PopcornRoute
from kernelbot.domain.ids import BIGINT_MAX
from kernelbot.platform.exports.model import ExportChoice
from kernelbot.schemas.common import Text

router = APIRouter(prefix="/admin", tags=["popcorn"], route_class=PopcornRoute)

BoardIds = Annotated[
    list[Annotated[StrictInt, Field(ge=1, le=BIGINT_MAX)]], Field(min_length=1, max_length=1000)
]


class HubExportBody(BaseModel):
    """Boards by number, and the file's name, which ends in .parquet."""

    leaderboard_ids: BoardIds
    filename: Text
    private: StrictBool = True


class HubExported(Ok):
    """Where the file is now, and what it holds."""

    url: str
    filename: str
    leaderboards: list[str]
    submissions: int


@router.post("/export-hf", responses=ERRORS)
async def popcorn_export(
    services: ServicesDep, organiser: Organiser, body: HubExportBody
) -> HubExported:
    """Upload these boards' submissions as Parquet, authors as pseudonyms. Public only once every
    board has ended."""
    choice = ExportChoice(ids=tuple(body.leaderboard_ids))
    done = await services.exports.to_hub(organiser, choice, body.filename, private=body.private)
    return HubExported(
        url=done.where,
        filename=body.filename,
        leaderboards=list(done.boards),
        submissions=done.submissions,
    )
