"""What does an author gain who submits one kernel fifty times, each time as other code?

Run with `python -m benchmarks.luck [--judgements 30] [--duels 12] [--authors 100]`. A problem's
first correct solution is judged again and again, and dueled with itself. Then authors submit it
fifty times: each score, with its interval, is drawn from the judgements and each duel from the
duels, and the platform's own ranking, in a database of its own, decides what stands. Before that,
the judgements were its as well, as repeated judgings of the same code, so that it knows the
device's scatter as far as it would.
"""

import argparse
import contextlib
import dataclasses
import math
import random
import statistics
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import LiteralString

import psycopg

from benchmarks.databases import database
from benchmarks.precision import EXAMPLES, correct_submission
from kernelbot.catalog.problem import LoadedProblem, load_problem
from kernelbot.harness.host.host import Host
from kernelbot.protocol import (
    DeviceSpec,
    JobSpec,
    Mode,
    ProgressEvent,
    RunResult,
    SourceFile,
    Vendor,
    Verdict,
)

TRIES = 50
KNOWN = 8
"""Of repeated judgings, so many count for one author."""
Interval = tuple[float, float, float]
"""A figure and the ends of its interval."""

SETUP: LiteralString = """
INSERT INTO problems (name) VALUES ('luck');
INSERT INTO problem_versions (
    problem_id, content_hash, definition, harness, ranking_by, judging_hash
) SELECT id, sha256('x'), '{}', 'native', 'last', sha256('x') FROM problems;
INSERT INTO users (name, role) VALUES ('root', 'admin');
INSERT INTO leaderboards (name, description, problem_version_id, visibility, creator_id, secret)
SELECT 'luck', '', v.id, 'public', u.id, sha256('x') FROM problem_versions v, users u;
INSERT INTO leaderboard_devices (leaderboard_id, device, position)
SELECT id, 'CPU', 0 FROM leaderboards;
"""
WOULD_WIN: LiteralString = "SELECT wins_duel(d, %s, %s) FROM duels d WHERE d.id = %s"
SUBMIT: LiteralString = """
WITH source AS (
    INSERT INTO sources VALUES (%(sha)s, 'x') ON CONFLICT DO NOTHING
), sent AS (
    INSERT INTO submissions (
        leaderboard_id, problem_version_id, author_id, source_sha256, file_name, mode, code_sha256
    )
    SELECT id, problem_version_id, %(author)s, %(sha)s, 'x.py', 'leaderboard', %(code)s
    FROM leaderboards
    RETURNING id, leaderboard_id
)
INSERT INTO runs (
    submission_id, device, secret, priority, state, verdict, finished_at, score_s, ci_low_s,
    ci_high_s, scatter
)
SELECT id, 'CPU', secret, 0, 'finished', 'accepted', clock_timestamp(),
    CASE WHEN secret THEN %(score)s END, CASE WHEN secret THEN %(low)s END,
    CASE WHEN secret THEN %(high)s END,
    CASE WHEN secret THEN (judging_scatter(leaderboard_id, 'CPU')).scatter ELSE 0 END
FROM sent, (VALUES (false), (true)) AS both_runs (secret)
"""


def main() -> None:
    """Print what was measured, and what it gains."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--judgements", type=int, default=30)
    parser.add_argument("--duels", type=int, default=12)
    parser.add_argument("--authors", type=int, default=100)
    parser.add_argument("--problem", type=Path, default=EXAMPLES / "sort_np")
    options = parser.parse_args()
    loaded = load_problem(options.problem)
    scores, ratios = measure(loaded, options.judgements, options.duels)
    print(f"{options.problem.name}: {measured_text(scores, ratios)}")
    with tempfile.TemporaryDirectory() as folder, ranking(Path(folder)) as connection:
        _repeat(connection, scores)
        scatter = _one(connection, "SELECT (judging_scatter(id, 'CPU')).scatter FROM leaderboards")
        print(f"The platform knows a scatter of {scatter:.1%}.")
        gains = [
            gain_of_one(connection, random.Random(number), scores, ratios)
            for number in range(options.authors)
        ]
    print(
        f"{TRIES} tries by each of {len(gains)} authors: the standing improves by "
        f"{statistics.fmean(gains):.2%} at the mean, by {max(gains):.1%} at most; "
        f"{sum(gain > 0 for gain in gains)} gained anything. "
        f"The best of {TRIES} tries would have been "
        f"{statistics.fmean(best_gain(random.Random(n), scores) for n in range(1000)):.1%}."
    )


def measure(
    loaded: LoadedProblem, judgements: int, duels: int
) -> tuple[list[Interval], list[Interval]]:
    """Scores of the solution, and ratios of it to itself. Raises RuntimeError if one fails."""
    source = correct_submission(loaded)
    order = random.sample([False] * judgements + [True] * duels, judgements + duels)
    scores, ratios = list[Interval](), list[Interval]()
    with contextlib.closing(Host()) as host:
        for number, is_duel in enumerate(order, 1):
            result = host.judge(_job(loaded, source, number, is_duel=is_duel), _ignore)
            if result.verdict is not Verdict.ACCEPTED:
                raise RuntimeError(f"judgement {number}: {result.verdict}, {result.failure}")
            if result.duel is not None:
                ratios.append((result.duel.ratio, *result.duel.ratio_ci95))
            else:
                scores.append(_score_of(result))
            sys.stderr.write(f"\r{number} of {len(order)}")
    sys.stderr.write("\n")
    return scores, ratios


def _job(loaded: LoadedProblem, source: SourceFile, number: int, *, is_duel: bool) -> JobSpec:
    job = JobSpec(
        job_id=f"luck-{number}",
        problem=loaded.definition.spec,
        submission=source,
        mode=Mode.LEADERBOARD,
        device=DeviceSpec("CPU", Vendor.CPU),
        secret=True,
        seed=number,
    )
    return dataclasses.replace(job, opponent=source) if is_duel else job


def _score_of(result: RunResult) -> Interval:
    if result.score_s is None or result.score_ci95_s is None:
        raise RuntimeError("an accepted run in leaderboard mode has a score")
    return (result.score_s, *result.score_ci95_s)


def measured_text(scores: Sequence[Interval], ratios: Sequence[Interval]) -> str:
    """How far scores and duels scatter, beside what their intervals say."""
    said = statistics.median((high - low) / 2 / score for score, low, high in scores)
    seen = statistics.stdev(math.log(score) for score, _, _ in scores)
    text = f"{len(scores)} scores deviate by {seen:.1%}; half of an interval is {said:.1%}."
    if len(ratios) > 1:
        apart = math.sqrt(statistics.fmean(math.log(ratio) ** 2 for ratio, _, _ in ratios))
        half = statistics.median((high - low) / 2 / ratio for ratio, low, high in ratios)
        text += (
            f" {len(ratios)} duels of it with itself deviate by {apart:.2%} from 1; half of an "
            f"interval is {half:.2%}."
        )
    return text


@contextlib.contextmanager
def ranking(folder: Path) -> Iterator[psycopg.Connection]:
    """A platform's database with one board."""
    with database(folder) as connection:
        connection.execute(SETUP)
        yield connection


def _repeat(connection: psycopg.Connection, scores: Sequence[Interval]) -> None:
    """The judgements, as the same code of several authors who then took no part in the ranking."""
    for start in range(0, len(scores), KNOWN + 1):
        author = _author(connection)
        for number, score in enumerate(scores[start : start + KNOWN + 1]):
            _submit(connection, author, number, score, code=0)


def gain_of_one(
    connection: psycopg.Connection,
    rng: random.Random,
    scores: Sequence[Interval],
    ratios: Sequence[Interval],
) -> float:
    """By how much of its first one an author's standing is better after all tries."""
    author = _author(connection)
    first = 0.0
    for number in range(TRIES):
        drawn = rng.choice(scores)
        first = first or drawn[0]
        _submit(connection, author, number, drawn, code=number)
        connection.execute("SELECT refresh_standing(id, 'CPU', %s) FROM leaderboards", (author,))
        _duel(connection, rng, ratios)
    last = _one(
        connection, "SELECT score_s FROM standings WHERE author_id = %(id)s", {"id": author}
    )
    connection.execute("DELETE FROM submissions WHERE author_id = %s", (author,))
    return 1 - last / first


def best_gain(rng: random.Random, scores: Sequence[Interval]) -> float:
    """The same if the best of all tries counted."""
    drawn = [rng.choice(scores)[0] for _ in range(TRIES)]
    return 1 - min(drawn) / drawn[0]


def _duel(connection: psycopg.Connection, rng: random.Random, ratios: Sequence[Interval]) -> None:
    """Every duel that waits shows one of the ratios; without any, it shows nothing."""
    waiting = connection.execute("SELECT id FROM duels WHERE state = 'waiting'").fetchall()
    for (duel,) in waiting if ratios else ():
        shown = rng.choice(ratios)
        row = connection.execute(WOULD_WIN, (shown[0], shown[2], duel)).fetchone()
        if row is not None and row[0]:  # it has to win twice
            shown = rng.choice(ratios)
        connection.execute("SELECT duel_measured(%s, %s, %s, %s)", (duel, *shown))


def _author(connection: psycopg.Connection) -> int:
    row = connection.execute(
        "INSERT INTO users (name, role) SELECT 'author-' || count(*), 'competitor' FROM users"
        " RETURNING id"
    ).fetchone()
    if row is None:
        raise RuntimeError("an insert returns its row")
    return int(row[0])


def _submit(
    connection: psycopg.Connection, author: int, number: int, score: Interval, *, code: int
) -> None:
    values = {"author": author, "sha": (author * TRIES + number).to_bytes(32, "big")}
    values |= {"code": (author * TRIES + code).to_bytes(32, "big")}
    values |= dict(zip(("score", "low", "high"), score, strict=True))
    connection.execute(SUBMIT, values)


def _one(
    connection: psycopg.Connection, query: LiteralString, values: dict[str, int] | None = None
) -> float:
    row = connection.execute(query, values).fetchone()
    if row is None:
        raise RuntimeError("there is always one")
    return float(row[0])


def _ignore(event: ProgressEvent) -> None:
    """Progress is for people."""


if __name__ == "__main__":
    main()
