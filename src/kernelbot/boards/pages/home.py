"""The home page: boards, and how to begin."""

from dataclasses import dataclass

from fastapi import APIRouter, Request, Response

from kernelbot.api.dependencies import ServicesDep, SettingsDep
from kernelbot.platform.distribution import install_command
from kernelbot.ranking.model import RankedBoard
from kernelbot.web.filters import is_over
from kernelbot.web.pages import PageDep

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True)
class Shelf:
    """Boards of one kind, under a heading."""

    title: str
    about: str
    boards: tuple[RankedBoard, ...]


@router.get("/")
async def home(
    request: Request, services: ServicesDep, settings: SettingsDep, page: PageDep
) -> Response:
    """Every board the visitor may see, with the first three on its first device."""
    viewer = page.session.user if page.session else None
    podiums = await services.standings.podiums(viewer)
    base_url = settings.base_url(request)
    return page(
        "home.html",
        shelves=shelves(podiums),
        base_url=base_url,
        install=install_command(base_url),
    )


def shelves(podiums: list[RankedBoard]) -> list[Shelf]:
    """Competitions that run, the soonest deadline first; boards without an end; what has ended, the
    latest first."""
    running = [one for one in podiums if one.board.deadline and not is_over(one.board.deadline)]
    practice = [one for one in podiums if one.board.deadline is None]
    ended = [one for one in podiums if is_over(one.board.deadline)]
    running.sort(key=_deadline)
    ended.sort(key=_deadline, reverse=True)
    found = (
        Shelf("Active", "They end at a deadline.", tuple(running)),
        Shelf("Practice", "Open without an end.", tuple(practice)),
        Shelf("Ended", "Their rankings stay.", tuple(ended)),
    )
    return [shelf for shelf in found if shelf.boards]


def _deadline(podium: RankedBoard) -> float:
    assert podium.board.deadline is not None
    return podium.board.deadline.timestamp()
