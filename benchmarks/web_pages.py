"""How fast the web pages of a large board are, beside the API's reads, and how large.

Run with `python -m benchmarks.web_pages [--authors N] [--count N]`. Server, database and data are
made for it in a temporary folder: one board on one device, three ranked submissions an author. Half
of the requests are a visitor's, half an author's who is logged in. One client asks for one page
after another.
"""

import argparse
import time

import httpx

from benchmarks.board_data import BOARD, Organiser, served_board
from benchmarks.figures import median_and_p95_ms
from benchmarks.standings import URL
from kernelbot.render.table import table
from kernelbot.web.session import SESSION

WARM_UP = 3
PATHS = (
    ("API: standings", f"/api/v1/boards/{BOARD}/standings"),
    ("API: standings, deep", f"/api/v1/boards/{BOARD}/standings?offset={{deep}}"),
    ("home", "/"),
    ("board", f"/board/{BOARD}"),
    ("board, deep", f"/board/{BOARD}?offset={{deep}}"),
    ("problem", f"/board/{BOARD}/problem"),
    ("trend as CSV", f"/board/{BOARD}/trend.csv?author=author-1&author=author-2"),
    ("submission", "/submission/{submission}"),
    ("organise: submissions", f"/organise/submissions?board={BOARD}&state=finished"),
    ("organise: of one author", f"/organise/submissions?board={BOARD}&user=author-1&device=CPU"),
    ("organise: waiting", f"/organise/submissions?board={BOARD}&state=queued"),
    ("organise: cancelled", f"/organise/submissions?board={BOARD}&state=cancelled"),
    ("organise: review", "/organise/submission/{submission}"),
    ("API: statistics, counted anew", f"/api/v1/stats?board={BOARD}"),
    ("organise: statistics", f"/organise/statistics?board={BOARD}"),
    ("organise: people", "/organise/people?search=author-19"),
)
FOR_AUTHORS = ("/submission", "/organise", "/api/v1/stats")


def measured(path: str, organiser: Organiser, count: int) -> tuple[list[float], int]:
    """How long each answer took, and its size in bytes."""
    times = []
    with (
        httpx.Client(base_url=URL, headers={"Accept": "text/html"}) as stranger,
        httpx.Client(
            base_url=URL,
            headers={"Accept": "text/html", "Authorization": f"Bearer {organiser.token}"},
            cookies={SESSION: organiser.session},
        ) as author,
    ):
        clients = [author] if path.startswith(FOR_AUTHORS) else [stranger, author]
        for number in range(WARM_UP + count):
            began = time.perf_counter()
            answer = clients[number % len(clients)].get(path)
            took = time.perf_counter() - began
            answer.raise_for_status()
            if number >= WARM_UP:
                times.append(took)
    return times, len(answer.content)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--authors", type=int, default=20_000)
    parser.add_argument("--count", type=int, default=200)
    arguments = parser.parse_args()
    rows = []
    with served_board(arguments.authors) as board:
        for name, path in PATHS:
            filled = path.format(deep=arguments.authors - 100, submission=1)
            times, size = measured(filled, board.organiser, arguments.count)
            rows.append([name, *median_and_p95_ms(times), f"{size / 1e3:.1f}"])
    headers = ("page", "median ms", "95th percentile ms", "kB")
    print(f"{arguments.authors} authors, {arguments.count} requests each, one after another:\n")
    print(table(headers, rows, right=headers[1:]))


if __name__ == "__main__":
    main()
