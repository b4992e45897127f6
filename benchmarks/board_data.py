"""A board of any size: ranked submissions by some authors, made within the database, and a server
that serves it."""

import asyncio
import contextlib
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psycopg

from benchmarks.databases import running_postgres
from benchmarks.processor_time import processor_s
from benchmarks.standings import server
from benchmarks.standings_data import DEVICES
from kernelbot.accounts.model import Role
from kernelbot.accounts.tokens.text import token_hash
from kernelbot.catalog.problem import load_problem
from kernelbot.server.wiring import open_services
from kernelbot.store.code import using
from kernelbot.store.migrate import migrate
from kernelbot.store.schema import this_code

BOARD = "large"
AUTHOR_TOKEN = "kb_benchmark_author"
"""Of `author-1`."""
PROBLEM = Path(__file__).resolve().parent.parent / "examples" / "matmul_py"
_SEED = """
SET session_replication_role = replica;
INSERT INTO users (name) SELECT 'author-' || n FROM generate_series(1, %(authors)s) n;
INSERT INTO sources (sha256, content)
SELECT sha256(convert_to('# ' || n, 'UTF8')), '# ' || n FROM generate_series(1, %(submissions)s) n;
INSERT INTO submissions (
    leaderboard_id, problem_version_id, author_id, source_sha256, file_name, mode, created_at
)
SELECT b.id, b.problem_version_id, u.id, sha256(convert_to('# ' || n, 'UTF8')), 'fast.py',
    'leaderboard', now() - make_interval(secs => %(submissions)s - n)
FROM generate_series(1, %(submissions)s) n
JOIN users u ON u.name = 'author-' || 1 + n %% %(authors)s, leaderboards b
WHERE b.name = %(board)s;
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
INSERT INTO tokens (user_id, name, hash)
SELECT id, 'benchmark', %(token)s FROM users WHERE name = 'author-1';
SET session_replication_role = DEFAULT
"""


@dataclass(frozen=True)
class Organiser:
    """What opens the API, and what opens the pages."""

    token: str
    session: str


async def _open_boards(url: str, boards: int) -> Organiser:
    async with open_services(url, DEVICES) as core:
        organiser = await core.services.users.create("organiser", Role.ADMIN)
        definition = load_problem(PROBLEM).definition
        for name in (BOARD, *(f"board-{number}" for number in range(1, boards))):
            await core.services.boards.create(
                organiser.user, definition, name=name, devices=(DEVICES[0].spec.name,)
            )
        browser = await core.services.logins.open_with(organiser.token)
    return Organiser(organiser.token, browser.token)


def seed(url: str, authors: int, submissions: int | None = None, boards: int = 1) -> Organiser:
    """Make `boards` boards, an organiser, and the data of one of them, whose name is `BOARD`.
    `submissions`: None for three of each author."""
    migrate(url)
    organiser = asyncio.run(_open_boards(url, boards))
    values = {
        "authors": authors,
        "submissions": submissions or 3 * authors,
        "board": BOARD,
        "token": token_hash(AUTHOR_TOKEN),
    }
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(*using(this_code()))
        for statement in _SEED.split(";\n"):
            connection.execute(statement, values if "%(" in statement else None)
    return organiser


@dataclass(frozen=True)
class ServedBoard:
    """A board that is served, by its organiser. `url`: the database's, as the superuser."""

    organiser: Organiser
    url: str
    pids: tuple[int, int]
    """The processes at the head of the API and of Postgres."""

    def used_s(self) -> float:
        """The processor time of both so far."""
        return sum(map(processor_s, self.pids))


@contextlib.contextmanager
def served_board(
    authors: int, submissions: int | None = None, boards: int = 1
) -> Iterator[ServedBoard]:
    """What `seed` makes, served by one process of the API at `benchmarks.standings.URL`."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with running_postgres(folder / "postgres") as postgres:
            url = postgres.admin_url  # the data is made without its triggers
            organiser = seed(url, authors, submissions, boards)
            with server(folder, url, 1) as api:
                yield ServedBoard(organiser, url, (api, postgres.pid))
