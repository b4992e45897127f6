"""How fast the web pages of a large board are, beside the API's reads, and how large.

Run with `python -m benchmarks.web_pages [--authors N] [--count N]`. Server, database and data are
made for it in a temporary folder: one board on one device, three ranked submissions an author. Half
of the requests are a visitor's, half an author's who is logged in. One client asks for one page
after another.
"""

import argparse
import asyncio
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import httpx
import psycopg

from benchmarks.figures import median_and_p95_ms
from benchmarks.standings import URL, server
from benchmarks.standings_data import DEVICES
from kernelbot.accounts.model import Role
from kernelbot.catalog.problem import load_problem
from kernelbot.render.table import table
from kernelbot.server.wiring import open_services
from kernelbot.store.code import using
from kernelbot.store.embedded import EmbeddedPostgres
from kernelbot.store.migrate import migrate
from kernelbot.store.schema import this_code
from kernelbot.web.session import SESSION

BOARD = "large"
PROBLEM = Path(__file__).resolve().parent.parent / "examples" / "matmul_py"
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
_SEED = """
SET session_replication_role = replica;
INSERT INTO users (name) SELECT 'author-' || n FROM generate_series(1, %(authors)s) n;
INSERT INTO sources (sha256, content)
SELECT sha256(convert_to('# ' || n, 'UTF8')), '# ' || n FROM generate_series(1, 3 * %(authors)s) n;
INSERT INTO submissions (
    leaderboard_id, problem_version_id, author_id, source_sha256, file_name, mode, created_at
)
SELECT b.id, b.problem_version_id, u.id, sha256(convert_to('# ' || n, 'UTF8')), 'fast.py',
    'leaderboard', now() - make_interval(secs => 3 * %(authors)s - n)
FROM generate_series(1, 3 * %(authors)s) n
JOIN users u ON u.name = 'author-' || 1 + n %% %(authors)s, leaderboards b;
INSERT INTO runs (
    submission_id, device, secret, author_id, priority, state, verdict, score_s, ci_low_s,
    ci_high_s, attempts, started_at, finished_at
)
SELECT s.id, 'CPU', secret, s.author_id, 1, 'finished', 'accepted', score_s, score_s * 0.999,
    score_s * 1.001, 1, now(), now()
FROM (SELECT id, author_id, 1e-4 * exp(3 * random()) AS score_s FROM submissions) s,
    (VALUES (false), (true)) kinds (secret);
ANALYZE;
SELECT rebuild_standings();
ANALYZE;
SET session_replication_role = DEFAULT
"""


@dataclass(frozen=True)
class Organiser:
    """What opens the API, and what opens the pages."""

    token: str
    session: str


async def _open_board(url: str) -> Organiser:
    async with open_services(url, DEVICES) as core:
        organiser = await core.services.users.create("organiser", Role.ADMIN)
        definition = load_problem(PROBLEM).definition
        await core.services.boards.create(
            organiser.user, definition, name=BOARD, devices=(DEVICES[0].spec.name,)
        )
        browser = await core.services.logins.open_with(organiser.token)
    return Organiser(organiser.token, browser.token)


def seed(url: str, authors: int) -> Organiser:
    """Make board, organiser and data."""
    migrate(url)
    organiser = asyncio.run(_open_board(url))
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(*using(this_code()))
        for statement in _SEED.split(";\n"):
            values = {"authors": authors} if "%(" in statement else None
            connection.execute(statement, values)
    return organiser


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
    with tempfile.TemporaryDirectory() as folder:
        postgres = EmbeddedPostgres(Path(folder) / "postgres")
        postgres.start()
        url = postgres.admin_url("postgres")  # the data is made without its triggers
        try:
            organiser = seed(url, arguments.authors)
            with server(Path(folder), url, 1):
                for name, path in PATHS:
                    filled = path.format(deep=arguments.authors - 100, submission=1)
                    times, size = measured(filled, organiser, arguments.count)
                    rows.append([name, *median_and_p95_ms(times), f"{size / 1e3:.1f}"])
        finally:
            postgres.stop()
    headers = ("page", "median ms", "95th percentile ms", "kB")
    print(f"{arguments.authors} authors, {arguments.count} requests each, one after another:\n")
    print(table(headers, rows, right=headers[1:]))


if __name__ == "__main__":
    main()
