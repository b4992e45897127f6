"""What the platform would have known of the scatter between judgings before each of a run's."""

import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import LiteralString

import psycopg

from benchmarks.coverage_rules import Judging, Known
from benchmarks.databases import database
from kernelbot.runs.repeats import MAX_REPEATS, is_too_wide

# A board and an author for each kernel, who sends it again and again to one device.
_BOARD: LiteralString = """
WITH author AS (
    INSERT INTO users (name, role) VALUES (%(name)s, 'admin') RETURNING id
), problem AS (
    INSERT INTO problems (name) VALUES (%(name)s) RETURNING id
), version AS (
    INSERT INTO problem_versions (
        problem_id, content_hash, definition, harness, ranking_by, judging_hash
    )
    SELECT id, sha256(%(name)s::text::bytea), '{}', 'native', 'last', sha256(%(name)s::text::bytea)
    FROM problem RETURNING id
), source AS (
    INSERT INTO sources VALUES (sha256(%(name)s::text::bytea), %(name)s)
)
INSERT INTO leaderboards (name, description, problem_version_id, visibility, creator_id, secret)
SELECT %(name)s, '', version.id, 'public', author.id, sha256('x') FROM version, author
RETURNING id
"""
_KNOWN: LiteralString = "SELECT scatter, pairs FROM judging_scatter(%s, 'CPU')"
_JUDGED: LiteralString = """
WITH sent AS (
    INSERT INTO submissions (
        leaderboard_id, problem_version_id, author_id, source_sha256, file_name, mode
    )
    SELECT id, problem_version_id, creator_id, sha256(name::bytea), 'x.py', 'leaderboard'
    FROM leaderboards WHERE id = %(board)s RETURNING id
)
INSERT INTO runs (
    submission_id, device, secret, priority, state, verdict, finished_at, score_s, ci_low_s,
    ci_high_s
)
SELECT id, 'CPU', true, 0, 'finished', 'accepted', clock_timestamp(), %(score)s, %(low)s, %(high)s
FROM sent
"""


def known_before(judged: Sequence[Judging], earlier: Sequence[Judging] = ()) -> list[Known]:
    """For each judging, in their order, what those before it and `earlier` had shown, by the
    platform's own estimate in a database of its own. What is measured again there counts only once
    it isn't."""
    with tempfile.TemporaryDirectory() as folder, database(Path(folder)) as connection:
        return known_in(connection, [*earlier, *judged])[len(earlier) :]


def known_in(connection: psycopg.Connection, judged: Sequence[Judging]) -> list[Known]:
    """The same, in a database without runs."""
    boards, repeats = dict[str, int](), Counter[str]()
    found = []
    for one in judged:
        if one.kernel not in boards:
            boards[one.kernel] = int(_row(connection, _BOARD, {"name": one.kernel})[0])
        board = boards[one.kernel]
        scatter, pairs = _row(connection, _KNOWN, (board,))
        low_s, high_s = (end_ns / 1e9 for end_ns in one.interval_ns)
        score_s = one.median_ns / 1e9
        again = is_too_wide(score_s, (low_s, high_s)) and repeats[one.kernel] < MAX_REPEATS
        found.append(Known(scatter, int(pairs), not again))
        repeats[one.kernel] = repeats[one.kernel] + 1 if again else 0
        if not again:
            values = {"board": board, "score": score_s, "low": low_s, "high": high_s}
            connection.execute(_JUDGED, values)
    return found


def _row(
    connection: psycopg.Connection, query: LiteralString, values: "dict[str, str] | tuple[int]"
) -> tuple[float, ...]:
    row = connection.execute(query, values).fetchone()
    if row is None:
        raise RuntimeError("there is always one")
    return row
