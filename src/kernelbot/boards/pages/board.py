"""A board: its ranking, its problem, and the files that belong to it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from fastapi import APIRouter, Path, Query, Request, Response
from markupsafe import Markup

from kernelbot.accounts.model import User
from kernelbot.api.dependencies import BoardName
from kernelbot.api.downloads import standings_answer
from kernelbot.boards.model import Board, BoardProblem
from kernelbot.boards.pages import feeds
from kernelbot.boards.pages.code_beside import load_shown_code, may_read_all
from kernelbot.domain.errors import NotFound
from kernelbot.domain.ids import BIGINT_MAX
from kernelbot.drawing.texts import Texts
from kernelbot.protocol import Lang
from kernelbot.ranking.model import Standing
from kernelbot.ranking.roofline import Roof, RooflineWork, roof_of, work_of
from kernelbot.ranking.service import RankingVersion
from kernelbot.ranking.trends import MAX_AUTHORS
from kernelbot.runs.files import safe_name
from kernelbot.schemas.common import NAME_MAX
from kernelbot.services import Services
from kernelbot.web import documents
from kernelbot.web.filters import is_over
from kernelbot.web.kept import StandingsTable, WrittenProblem, page_cache_of, table_key
from kernelbot.web.pages import Page, PageDep

router = APIRouter(prefix="/board", include_in_schema=False)

ROWS = 50
_AUTHORS_FIRST = 3
_PODIUM = 3
_SHOWN_FILE_CHARACTERS = 20_000
"""How much of one file the problem's page shows; the whole of it can be downloaded."""
DeviceQuery = Annotated[str | None, Query(max_length=NAME_MAX, pattern=r"^[^\x00-\x1f\x7f]+$")]
AuthorsQuery = Annotated[list[Annotated[str, Query(max_length=NAME_MAX)]] | None, Query()]
PlainName = Annotated[str, Path(max_length=200, pattern=r"^[^\x00-\x1f\x7f/\\]+$")]


@dataclass(frozen=True)
class ComparedStanding:
    """A standing, compared with the leader. `gap`: how much slower, as a share of the leader's
    score; None if it is as fast. `share`: the leader's score as a share of this one."""

    standing: Standing
    gap: float | None
    share: float


@dataclass(frozen=True)
class RooflinePoint:
    """Where the leader is: operations per byte, operations per second, and those as a share of what
    the device could do."""

    intensity: float
    flops_per_s: float
    share: float


@router.get("/{board}")
async def show_standings(
    request: Request,
    page: PageDep,
    board: BoardName,
    device: DeviceQuery = None,
    offset: Annotated[int, Query(ge=0, le=BIGINT_MAX)] = 0,
    author: AuthorsQuery = None,
    log: bool = False,
    code: Annotated[int | None, Query(ge=1, le=BIGINT_MAX)] = None,
) -> Response:
    """The ranking on one device, and how it came about; with `code` the code of that submission
    beside it, if the visitor may read it."""
    viewer = page.viewer
    ranking = await page.services.standings.ranking(viewer, board, device)
    beside = None
    if code is not None:
        texts = documents.texts_of(request)
        beside = await load_shown_code(
            page.services, texts, viewer, ranking, code, offset=offset, rows=ROWS
        )
    view = TableView(offset, may_read_all(viewer, ranking), code)
    table = await _table(request, page.services, page, ranking, view)
    work = work_of(
        (await written_problem(request, page.services, viewer, ranking.board)).problem.spec
    )
    roof = roof_of(page.services.devices.spec(ranking.device), work)
    return page(
        "board.html",
        tab="standings",
        board=await page.services.summaries.described(ranking.board),
        device=ranking.device,
        total=ranking.total,
        table=table,
        about=feeds.about(ranking.device, ranking.total, _leader(table)),
        podium=(await page.services.standings.page_of(ranking, limit=_PODIUM, offset=0)).standings
        if is_over(ranking.board.deadline)
        else (),
        beside=beside,
        offset=offset,
        limit=ROWS,
        authors=(author or _chosen(viewer, table))[:MAX_AUTHORS],
        max_authors=MAX_AUTHORS,
        log=log,
        roofline=_roofline(work, roof, table) if work and roof else None,
        followed=viewer is not None
        and await page.services.following.follows_board(viewer, ranking.board.id),
    )


@router.get("/{board}/standings.csv")
async def standings_file(page: PageDep, board: BoardName, device: DeviceQuery = None) -> Response:
    found = await page.services.standings.table(page.viewer, board, device)
    return await standings_answer(found)


def _roofline(work: RooflineWork, roof: Roof, table: StandingsTable) -> RooflinePoint | None:
    if table.best_s is None:
        return None
    attained = work.flops / table.best_s
    return RooflinePoint(work.intensity, attained, attained / roof.flops_per_s(work.intensity))


def _leader(table: StandingsTable) -> tuple[str, float] | None:
    return None if table.best_s is None else (table.first[0], table.best_s)


@dataclass(frozen=True)
class TableView:
    """What of a ranking a page shows. `with_code`: whether all code in it is the visitor's to read;
    `code`: the submission whose code is beside it."""

    offset: int
    with_code: bool
    code: int | None


async def _table(
    request: Request, services: Services, page: Page, ranking: RankingVersion, view: TableView
) -> StandingsTable:
    """The rows from there on, as this visitor sees them: their own row stands out."""
    viewer_id = page.viewer.id if page.viewer else None
    tables = page_cache_of(request).tables
    key = table_key(ranking, view.offset, with_code=view.with_code)
    table = tables.get(key, ranking)
    if table is not None and view.code is None and viewer_id not in table.authors:
        return table
    ask = services.standings.page_of
    first = (await ask(ranking, limit=ROWS, offset=0)).standings
    rows = first
    if view.offset:
        rows = (await ask(ranking, limit=ROWS, offset=view.offset)).standings
    shown = list(compared(rows, first))
    html = page.text(
        "standings_table.html",
        rows=shown,
        viewer_id=viewer_id,
        board=ranking.board,
        device=ranking.device,
        view=view,
    )
    table = StandingsTable(
        Markup(html),  # noqa: S704  # a template's
        len(shown),
        frozenset(row.standing.author_id for row in shown),
        tuple(row.author for row in first[:_AUTHORS_FIRST]),
        tuple(row.standing.author for row in shown),
        first[0].score_s if first else None,
        any(row.standing.shared for row in shown),
    )
    if view.code is None and viewer_id not in table.authors:
        tables.keep(key, ranking, table)
    return table


def _chosen(viewer: User | None, table: StandingsTable) -> list[str]:
    """Whose scores the trend shows if nobody is asked for: the first, and the visitor if they are
    ranked."""
    ranked = viewer is not None and viewer.id in table.authors
    return list(dict.fromkeys([*table.first, *([viewer.name] if viewer and ranked else [])]))


def compared(rows: Sequence[Standing], first: Sequence[Standing]) -> Iterator[ComparedStanding]:
    """Rows of a page beside the first of the ranking."""
    for row in rows:
        leader_s = first[0].score_s if first else row.score_s
        gap = row.score_s / leader_s - 1 if row.score_s > leader_s else None
        yield ComparedStanding(row, gap, leader_s / row.score_s)


@router.get("/{board}/problem")
async def show_problem(request: Request, page: PageDep, board: BoardName) -> Response:
    viewer = page.viewer
    found = await page.services.boards.get(viewer, board)
    written = await written_problem(request, page.services, viewer, found)
    problem = written.problem
    return page(
        "problem.html",
        tab="problem",
        board=await page.services.summaries.described(found),
        problem=problem,
        spec=problem.spec,
        statement=written.statement,
        limits=await page.services.limits.list_limits(viewer, board),
        files=written.files,
        starters=[(language, starter_name(problem, language)) for language in problem.templates],
    )


async def written_problem(
    request: Request, services: Services, viewer: User | None, board: Board
) -> WrittenProblem:
    """The board's problem with its texts as HTML. Raises `NotFound`."""
    problems, version_id = page_cache_of(request).problems, board.problem_version_id
    written = problems.get(version_id, version_id)
    if written is None:
        found = await services.boards.problem(viewer, board.name)
        written, is_coloured = await _written(documents.texts_of(request), found)
        version_id = written.problem.leaderboard.problem_version_id  # perhaps a newer one
        if is_coloured:  # else the next view asks for the colours again
            problems.keep(version_id, version_id, written)
    # It is kept for all boards that have this version, also for those that nobody else may see.
    mine = replace(written.problem, board=board.name, problem=board.problem, leaderboard=board)
    return replace(written, problem=mine)


async def _written(texts: Texts, problem: BoardProblem) -> tuple[WrittenProblem, bool]:
    """The problem's page, and whether its files have their colours."""
    files, is_coloured = [], True
    for file in problem.files:
        shown = documents.excerpt(file.text, _SHOWN_FILE_CHARACTERS)
        html = await documents.coloured_source(texts, shown, file.name)
        is_coloured = is_coloured and html is not None
        html = html or documents.plain_source(shown)
        files.append((file.name, html, len(shown) == len(file.text)))
    statement = documents.statement(problem.description)
    return WrittenProblem(problem, statement, tuple(files)), is_coloured


@router.get("/{board}/starter/{language}")
async def download_starter(page: PageDep, board: BoardName, language: PlainName) -> Response:
    problem = await page.services.boards.problem(page.viewer, board)
    text = problem.templates.get(language)
    if text is None:
        raise NotFound(f"There is no starter file in {language!r}.")
    return _download(starter_name(problem, language), text)


@router.get("/{board}/file/{name}")
async def download_file(page: PageDep, board: BoardName, name: PlainName) -> Response:
    problem = await page.services.boards.problem(page.viewer, board)
    for file in problem.files:
        if file.name == name:
            return _download(file.name, file.text)
    raise NotFound(f"The problem has no file {name!r}.")


def starter_name(problem: BoardProblem, language: str) -> str:
    """What a starter file is called on the author's disk."""
    suffix = Lang(problem.lang).suffixes[0]
    several = f"-{language.lower()}" if len(problem.templates) > 1 else ""
    return safe_name(f"{problem.board}{several}{suffix}")


def _download(name: str, text: str) -> Response:
    headers = {
        "Content-Disposition": f'attachment; filename="{safe_name(name)}"',
        "X-Content-Type-Options": "nosniff",
        "Cache-Control": "no-cache",
    }
    return Response(text.encode(), media_type="text/plain; charset=utf-8", headers=headers)
