"""What a request costs the API and Postgres, against submissions, authors and boards."""

from collections.abc import Sequence

import httpx

from benchmarks.board_data import AUTHOR_TOKEN, BOARD, ServedBoard, served_board
from benchmarks.growth_rules import Curve, Point
from benchmarks.standings import URL
from kernelbot.web.session import SESSION

AUTHORS = 300
"""Of a platform that has more and more submissions."""
_WARM_UP = 20
_PATHS = {
    "first page of standings": f"/api/v1/boards/{BOARD}/standings",
    "last page of standings": f"/api/v1/boards/{BOARD}/standings?offset={{deep}}",
    "a submission": "/api/v1/submissions/{submission}",
    "an author's list": "/api/v1/submissions?limit=50",
    "a board's web page": f"/board/{BOARD}",
    "an organiser's list": f"/organise/submissions?board={BOARD}&state=finished",
    "an organiser's list of an author": f"/organise/submissions?board={BOARD}&user=author-1",
    "statistics": f"/api/v1/stats?board={BOARD}",
}
_OF_AN_AUTHOR = "/api/v1/submissions?"
_OF_BOARDS = {"list of boards": "/api/v1/boards", "home page": "/"}


def against_submissions(sizes: Sequence[int], count: int) -> list[Curve]:
    """By a fixed number of authors."""
    found = {size: _costs(_PATHS, AUTHORS, size, 1, count) for size in sizes}
    return _curves("submissions", found)


def against_authors(sizes: Sequence[int], count: int) -> list[Curve]:
    """Three submissions of each, all on one board."""
    found = {size: _costs(_PATHS, size, 3 * size, 1, count) for size in sizes}
    return _curves("authors", found)


def against_boards(sizes: Sequence[int], count: int) -> list[Curve]:
    """Of which one has submissions."""
    found = {size: _costs(_OF_BOARDS, 10, 100, size, count) for size in sizes}
    return _curves("boards", found)


def _curves(what: str, found: dict[int, dict[str, float]]) -> list[Curve]:
    names = next(iter(found.values()))
    return [
        Curve(what, name, tuple(Point(size, costs[name]) for size, costs in found.items()))
        for name in names
    ]


def _costs(
    paths: dict[str, str], authors: int, submissions: int, boards: int, count: int
) -> dict[str, float]:
    """Processor time of a request in milliseconds, API and Postgres together."""
    with served_board(authors, submissions, boards) as board:
        return {
            of: _cost_ms(board, path.format(deep=max(authors - 60, 0), submission=1), count)
            for of, path in paths.items()
        }


def _cost_ms(board: ServedBoard, path: str, count: int) -> float:
    token = AUTHOR_TOKEN if path.startswith(_OF_AN_AUTHOR) else board.organiser.token
    headers = {"Accept": "text/html", "Authorization": f"Bearer {token}"}
    cookies = {} if path.startswith(_OF_AN_AUTHOR) else {SESSION: board.organiser.session}
    with httpx.Client(base_url=URL, headers=headers, cookies=cookies, timeout=60) as client:
        for _ in range(_WARM_UP):
            client.get(path).raise_for_status()
        before_s = board.used_s()
        for _ in range(count):
            client.get(path).raise_for_status()
        return (board.used_s() - before_s) * 1e3 / count
