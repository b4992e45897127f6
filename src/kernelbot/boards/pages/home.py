"""The home page: what happens on the boards, the boards themselves, and how to begin."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from kernelbot.api.dependencies import SettingsDep
from kernelbot.boards.model import Board, ProblemSummary
from kernelbot.platform.distribution import install_command
from kernelbot.ranking.model import RankedBoard
from kernelbot.web.filters import is_over
from kernelbot.web.pages import PageDep

router = APIRouter(include_in_schema=False)

_LONGEST_QUERY = 100


@dataclass(frozen=True)
class Shelf:
    """Boards of one kind, under a heading."""

    title: str
    about: str
    boards: tuple[RankedBoard, ...]


@router.get("/")
async def home(
    request: Request,
    page: PageDep,
    settings: SettingsDep,
    q: Annotated[str, Query(max_length=_LONGEST_QUERY)] = "",
) -> Response:
    """Every board the visitor may see, or those that all words of `q` are about, with the first
    three on its first device."""
    podiums = await page.services.standings.podiums(page.viewer)
    seen = [one.board for one in podiums]
    summaries = await page.services.summaries.for_boards(seen)
    found = matching(podiums, summaries, q)
    base_url = settings.base_url(request)
    return page(
        "home.html",
        shelves=shelves(found),
        summaries=summaries,
        query=q.strip(),
        number=len(found),
        recent=await page.services.activity.recent(seen),
        first=first_open([one.board for one in podiums]),
        has_bot=settings.has_bot,
        base_url=base_url,
        install=install_command(base_url),
    )


def matching(
    podiums: Sequence[RankedBoard], summaries: Mapping[int, ProblemSummary], query: str
) -> list[RankedBoard]:
    """The boards in whose name, problem, sentence, language, difficulty, tags or devices each word
    of the query is found, in upper or lower case."""
    words = query.casefold().split()
    return [
        one
        for one in podiums
        if all(
            word in _searched(one.board, summaries[one.board.problem_version_id]) for word in words
        )
    ]


def _searched(board: Board, summary: ProblemSummary) -> str:
    about = (summary.sentence, summary.lang.label, summary.difficulty or "", *summary.tags)
    return "\n".join((board.name, board.problem, *about, *board.devices)).casefold()


def first_open(boards: Sequence[Board]) -> Board | None:
    """Where a newcomer is sent: the board whose deadline is the next, else the newest without one.
    None if no board takes submissions."""
    running = [one for one in boards if one.deadline is not None and not is_over(one.deadline)]
    if running:
        return min(running, key=_end_of)
    return next((one for one in boards if one.deadline is None), None)


def shelves(podiums: Sequence[RankedBoard]) -> list[Shelf]:
    """Competitions that run, the soonest deadline first; boards without an end; what has ended, the
    latest first."""
    running = [one for one in podiums if one.board.deadline and not is_over(one.board.deadline)]
    practice = [one for one in podiums if one.board.deadline is None]
    ended = [one for one in podiums if is_over(one.board.deadline)]
    running.sort(key=lambda one: _end_of(one.board))
    ended.sort(key=lambda one: _end_of(one.board), reverse=True)
    found = (
        Shelf("Active", "They end at a deadline.", tuple(running)),
        Shelf("Practice", "Open without an end.", tuple(practice)),
        Shelf("Ended", "Their rankings stay.", tuple(ended)),
    )
    return [shelf for shelf in found if shelf.boards]


def _end_of(board: Board) -> float:
    assert board.deadline is not None
    return board.deadline.timestamp()
