"""Random histories: what is kept up to date equals what is built anew, and both equal the rule."""

import asyncio
import random
from dataclasses import dataclass
from typing import LiteralString

import psycopg
import pytest

from kernelbot.ranking import store as standings
from kernelbot.ranking.model import NotRankedReason, Standing
from tests.support.exhaustive import cases
from tests.support.world import World


@dataclass(frozen=True)
class Entry:
    """A row of `standings`, in order."""

    author_id: int
    run_id: int
    score_s: float
    ci_low_s: float
    ci_high_s: float
    leads: bool


def _entries(connection: psycopg.Connection) -> list[Entry]:
    rows = connection.execute(
        "SELECT author_id, run_id, score_s, ci_low_s, ci_high_s, leads FROM standings"
        " ORDER BY score_s, achieved_at, author_id"
    ).fetchall()
    return [Entry(*row) for row in rows]


def _told_apart(connection: psycopg.Connection) -> set[tuple[int, int]]:
    """Of each pair that a duel has told apart, the slower run and the faster one."""
    rows = connection.execute(
        "SELECT run_id, opponent_run_id, ratio, ratio_low, ratio_high FROM duels"
        " WHERE state = 'measured' AND reason = 'neighbours'"
    ).fetchall()
    slower = {(run, other) for run, other, ratio, low, _ in rows if ratio > 1.005 and low > 1}
    faster = {(other, run) for run, other, ratio, _, high in rows if ratio < 0.995 and high < 1}
    return slower | faster


def _ranks(entries: list[Entry], told_apart: set[tuple[int, int]]) -> list[int]:
    """The rule once more: an author whose interval overlaps the leader's, and whose score is at
    most a tenth above, shares the rank, unless a duel has shown them to be slower than another."""
    ranks: list[int] = []
    leader: Entry | None = None
    together: list[int] = []
    for position, entry in enumerate(entries, start=1):
        apart = any((entry.run_id, faster) in told_apart for faster in together)
        far = leader is not None and (
            entry.ci_low_s > leader.ci_high_s or entry.score_s > leader.score_s * 1.1
        )
        if leader is None or far or apart:
            leader, rank, together = entry, position, []
        ranks.append(rank)
        together.append(entry.run_id)
    return ranks


ADD: LiteralString = """
WITH s AS (
    INSERT INTO submissions (
        leaderboard_id, problem_version_id, author_id, source_sha256, file_name, mode
    )
    SELECT b.id, b.problem_version_id, %(author)s, %(sha)s, 'x.py', 'leaderboard'
    FROM leaderboards b RETURNING id
)
INSERT INTO runs (
    submission_id, device, secret, priority, state, verdict, fault, score_s, ci_low_s, ci_high_s,
    finished_at
)
SELECT s.id, 'CPU', secret, 0, 'finished', verdict::run_verdict, fault::fault, score, low, high,
    now()
FROM s, (VALUES
    (false, %(public)s, %(public_fault)s, NULL::float8, NULL::float8, NULL::float8),
    (true, 'accepted', NULL, %(score)s, %(low)s, %(high)s)
) AS r (secret, verdict, fault, score, low, high)
"""
REVOKE: tuple[LiteralString, ...] = (
    """
    UPDATE submissions SET review = 'held', review_reason = 'odd'
    WHERE author_id = %(author)s AND review = 'clear' AND random() < 0.5
    """,
    "UPDATE submissions SET review = 'clear' WHERE author_id = %(author)s",
    """
    UPDATE submissions SET review = 'refused', review_reason = 'odd'
    WHERE author_id = %(author)s AND review <> 'refused' AND random() < 0.2
    """,
    "UPDATE users SET banned_at = now() WHERE id = %(author)s",
    "UPDATE users SET banned_at = NULL WHERE id = %(author)s",
)


SETTLE: LiteralString = """
SELECT duel_measured(id, %(ratio)s, %(ratio)s - %(half)s, %(ratio)s + %(half)s)
FROM (SELECT id FROM duels WHERE state = 'waiting' ORDER BY random() LIMIT 1) one
"""


def _duel(connection: psycopg.Connection, rng: random.Random) -> None:
    """One that waits, if there is one, shows something."""
    values = {"ratio": rng.choice([0.97, 0.998, 1.002, 1.03]), "half": rng.choice([0.001, 0.1])}
    connection.execute(SETTLE, values)


def _history(connection: psycopg.Connection, rng: random.Random, authors: list[int]) -> None:
    """Some verdicts written and revoked, each followed by a refresh, as the services do it."""
    for _ in range(40):
        if rng.random() < 0.3:
            _duel(connection, rng)
        author = rng.choice(authors)
        sha = bytes([rng.randrange(20)]) * 32
        connection.execute("INSERT INTO sources VALUES (%s, 'x') ON CONFLICT DO NOTHING", (sha,))
        if rng.random() < 0.7:
            score = rng.choice([1.0, 1.5, 2.0, 3.0]) + rng.random() * 0.3
            width = rng.choice([0.0, 0.05, 0.4, 1.0])
            passed = rng.random() < 0.8
            interval = rng.random() < 0.8
            connection.execute(
                ADD,
                {
                    "author": author,
                    "sha": sha,
                    "public": "accepted" if passed else "wrong_answer",
                    "public_fault": None if passed else "author",
                    "score": score,
                    "low": score - width / 2 if interval else None,
                    "high": score + width / 2 if interval else None,
                },
            )
        else:
            connection.execute(rng.choice(REVOKE), {"author": author})
        connection.execute("SELECT refresh_standing(id, 'CPU', %s) FROM leaderboards", (author,))


UNEXPLAINED: LiteralString = """
SELECT r.id, st.run_id, n.not_ranked FROM runs r
JOIN runs p ON p.submission_id = r.submission_id AND NOT p.secret AND p.verdict = 'accepted'
LEFT JOIN standings st ON st.submission_id = r.submission_id
LEFT JOIN shown_runs n ON n.id = r.id AND n.state = 'finished'
WHERE r.secret AND (st.run_id IS NULL) = (n.not_ranked IS NULL)
"""


SHARED: LiteralString = """
SELECT standing_is_shared(leaderboard_id, device, author_id) FROM standings
ORDER BY score_s, achieved_at, author_id
"""

UNDUELED: LiteralString = """
SELECT r.run_id, st.run_id FROM counted_runs r
JOIN standings st USING (leaderboard_id, device, author_id)
WHERE r.score_s < st.score_s AND NOT r.again AND NOT EXISTS (
    SELECT 1 FROM duels d JOIN runs o ON o.id = d.opponent_run_id
    WHERE d.run_id = r.run_id AND (
        o.id = st.run_id OR (d.state = 'measured' AND NOT d.wins AND o.score_s >= st.score_s)
    )
)
"""


@pytest.mark.parametrize("seed", cases(range(4), always=[0]))
async def test_every_accepted_run_is_ranked_or_has_a_reason(world: World, seed: int) -> None:
    await world.board()
    authors = [(await world.services.users.create(f"u{i}")).user.id for i in range(4)]
    with psycopg.connect(world.database.url, autocommit=True) as connection:
        _history(connection, random.Random(seed), authors)
        found = connection.execute(
            "SELECT DISTINCT not_ranked FROM shown_runs WHERE not_ranked IS NOT NULL"
        ).fetchall()
        assert connection.execute(UNEXPLAINED).fetchall() == []
    assert {reason for (reason,) in found} <= set(NotRankedReason)


@pytest.mark.parametrize("seed", cases(range(12), always=[0]))
async def test_kept_standings_equal_rebuilt_ones(world: World, seed: int) -> None:
    await world.board()
    authors = [(await world.services.users.create(f"u{i}")).user.id for i in range(8)]
    with psycopg.connect(world.database.url, autocommit=True) as connection:
        _history(connection, random.Random(seed), authors)
        kept = _entries(connection)
        count = connection.execute("SELECT authors FROM leaderboard_devices").fetchone()
        connection.execute("SELECT rebuild_standings()")
        rebuilt = _entries(connection)
        told_apart = _told_apart(connection)
        single = connection.execute(SHARED).fetchall()
        assert connection.execute(UNDUELED).fetchall() == []
    page = await world.services.standings.page(None, "sort", "CPU", limit=100)
    assert kept == rebuilt
    assert count == (len(kept),)
    ranks = _ranks(kept, told_apart)
    assert [row.rank for row in page.standings] == ranks
    shared = [ranks.count(one) > 1 for one in ranks]
    assert shared == [row.shared for row in page.standings]
    assert shared == [is_shared for (is_shared,) in single]


@pytest.mark.exhaustive  # each run has test_kept_standings_equal_rebuilt_ones
async def test_every_page_shows_the_ranks_of_the_whole(world: World) -> None:
    board = await world.board()
    authors = [(await world.services.users.create(f"u{i}")).user.id for i in range(15)]
    with psycopg.connect(world.database.url, autocommit=True) as connection:
        _history(connection, random.Random(3), authors)
    async with world.database.read() as session:
        whole = await standings.page(session, board.id, "CPU", limit=100, offset=0)
        singles: list[Standing] = []
        for offset in range(len(whole.rows)):
            single = await standings.page(session, board.id, "CPU", limit=1, offset=offset)
            singles += single.rows
    assert tuple(singles) == whole.rows


@pytest.mark.exhaustive  # each run has test_kept_standings_equal_rebuilt_ones
async def test_a_page_counted_from_any_row_is_the_one_counted_from_the_top(world: World) -> None:
    board = await world.board()
    authors = [(await world.services.users.create(f"u{i}")).user.id for i in range(15)]
    with psycopg.connect(world.database.url, autocommit=True) as connection:
        _history(connection, random.Random(5), authors)
    async with world.database.read() as session:
        whole = await standings.page(session, board.id, "CPU", limit=100, offset=0)
        for position, row in enumerate(whole.rows):
            start = standings.Mark(position, row)
            for offset in range(position, len(whole.rows)):
                counted = await standings.page(
                    session, board.id, "CPU", limit=2, offset=offset, start=start
                )
                assert whole.rows[offset : offset + 2] == counted.rows


async def test_a_page_beyond_the_end_is_empty(world: World) -> None:
    await world.board()
    page = await world.services.standings.page(None, "SORT", "cpu", offset=10**18)
    assert (page.standings, page.total) == ((), 0)


@pytest.mark.exhaustive  # each run has test_kept_standings_equal_rebuilt_ones
async def test_verdicts_written_at_once_are_all_counted(world: World) -> None:
    board = await world.board()
    authors = [(await world.services.users.create(f"u{i}")).user.id for i in range(12)]

    def one(author: int) -> None:
        with psycopg.connect(world.database.url) as connection:
            values = {"author": author, "sha": b"\x01" * 32, "score": 1.0, "low": None}
            values |= {"high": None, "public": "accepted", "public_fault": None}
            connection.execute(
                "INSERT INTO sources VALUES (%(sha)s, 'x') ON CONFLICT DO NOTHING", values
            )
            connection.execute(ADD, values)
            connection.execute("SELECT refresh_standing(%s, 'CPU', %s)", (board.id, author))

    await asyncio.gather(*(asyncio.to_thread(one, author) for author in authors))
    page = await world.services.standings.page(None, "sort", None)
    assert (page.total, {row.rank for row in page.standings}) == (12, {1})


@dataclass(frozen=True)
class Shot:
    """A score with half the width of its interval, by some source."""

    score_s: float
    half_s: float
    source: int
    code: int | None = None
    """None: of before it was looked at."""


@pytest.mark.parametrize(
    ("shots", "standing"),
    [
        ([Shot(2.0, 0.1, 1), Shot(1.0, 0.1, 2)], 1.0),
        ([Shot(2.0, 0.1, 1), Shot(1.9, 0.1, 2)], 2.0),
        ([Shot(2.0, 0.1, 1), Shot(1.9, 0.1, 2), Shot(1.7, 0.1, 3)], 1.7),
        ([Shot(2.0, 0.1, 1), Shot(1.0, 0.1, 1)], 2.0),
        ([Shot(2.0, 0.1, 1), Shot(1.5, 0.1, 2), Shot(0.5, 0.1, 1)], 1.5),
        ([Shot(2.0, 0.1, 1, 7), Shot(1.0, 0.1, 2, 7)], 2.0),
        ([Shot(2.0, 0.1, 1, 7), Shot(1.0, 0.1, 2, 8)], 1.0),
        ([Shot(2.0, 0.1, 1), Shot(1.0, 0.1, 1, 7)], 2.0),
        ([Shot(2.0, 0.1, 1), Shot(1.0, 0.1, 2, 7), Shot(0.5, 0.1, 3, 7)], 1.0),
    ],
    ids=[
        "a real improvement counts",
        "noise doesn't",
        "small steps add up",
        "the same source again doesn't count",
        "nor after another one",
        "nor the same code in another source",
        "other code counts",
        "the same source of before doesn't count",
        "what came before is no other's code",
    ],
)
async def test_what_an_author_stands_with(world: World, shots: list[Shot], standing: float) -> None:
    board = await world.board()
    author = world.ada.user.id
    with psycopg.connect(world.database.url, autocommit=True) as connection:
        for shot in shots:
            sha = bytes([shot.source]) * 32
            connection.execute(
                "INSERT INTO sources VALUES (%s, 'x') ON CONFLICT DO NOTHING", (sha,)
            )
            values = {"author": author, "sha": sha, "public": "accepted", "public_fault": None}
            values |= {"score": shot.score_s, "low": shot.score_s - shot.half_s}
            connection.execute(ADD, values | {"high": shot.score_s + shot.half_s})
            code = None if shot.code is None else bytes([shot.code]) * 32
            connection.execute(
                "UPDATE submissions SET code_sha256 = %s"
                " WHERE id = (SELECT max(id) FROM submissions)",
                (code,),
            )
            connection.execute("SELECT refresh_standing(%s, 'CPU', %s)", (board.id, author))
    page = await world.services.standings.page(None, "sort", None)
    assert [standing] == [row.score_s for row in page.standings]
