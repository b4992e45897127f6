"""What `cluster_sim` finds in the database afterwards."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

import psycopg
from psycopg.rows import dict_row

from benchmarks.figures import quantile

GROUPS = ((1, 2), (3, 10), (11, 50), (51, 1_000_000))
"""Of authors, by how much they submitted."""
_RUNS = """
SELECT s.author_id, r.device, r.state::text, r.verdict::text, r.attempts,
    extract(epoch FROM r.started_at - r.created_at)::float8 AS wait_s,
    (SELECT count(*) FROM attempts a WHERE a.run_id = r.id AND a.state = 'finished') AS results,
    (SELECT count(*) FROM events e WHERE e.submission_id = s.id AND e.run_id = r.id
        AND e.kind = 'finished') AS ends
FROM runs r JOIN submissions s ON s.id = r.submission_id
"""


@dataclass(frozen=True)
class Ends:
    """Of all runs. Waits are in simulated seconds, from submitting to the first claim."""

    submissions: int
    runs: int
    accepted: int
    gave_up: int
    """Judging failed three times."""
    lost: int
    """Neither of them."""
    doubled: int
    """With two results, or told twice."""
    again: int
    """That needed more than one attempt."""
    waits_by_author: dict[int, list[float]]
    waits_by_device: dict[str, list[float]]


def read_ends(url: str, speed: float) -> Ends:
    """After everything has ended, or should have."""
    with psycopg.connect(url, row_factory=dict_row) as connection:
        runs = connection.execute(_RUNS).fetchall()
        row = connection.execute("SELECT count(*) AS submissions FROM submissions").fetchone()
    by_author: dict[int, list[float]] = {}
    by_device: dict[str, list[float]] = {}
    for run in runs:
        if run["wait_s"] is not None:
            by_author.setdefault(run["author_id"], []).append(run["wait_s"] * speed)
            by_device.setdefault(run["device"], []).append(run["wait_s"] * speed)
    verdicts = [run["verdict"] for run in runs]
    accepted, gave_up = verdicts.count("accepted"), verdicts.count("internal_error")
    return Ends(
        submissions=row["submissions"] if row else 0,
        runs=len(runs),
        accepted=accepted,
        gave_up=gave_up,
        lost=len(runs) - accepted - gave_up,
        doubled=sum(run["results"] > 1 or run["ends"] > 1 for run in runs),
        again=sum(run["attempts"] > 1 for run in runs),
        waits_by_author=by_author,
        waits_by_device=by_device,
    )


def gini(values: Sequence[float]) -> float:
    """How unequal the values are: 0 if all are alike, near 1 if one has everything. They must not
    be negative; of none, or of zeros alone, it is 0."""
    ordered = sorted(values)
    total = sum(ordered)
    if total == 0:
        return 0.0
    weighted = sum(place * value for place, value in enumerate(ordered, 1))
    return 2 * weighted / (len(ordered) * total) - (len(ordered) + 1) / len(ordered)


def fairness_rows(ends: Ends) -> list[list[str]]:
    """A line for each group of authors, and one for all."""
    rows = []
    for low, high in GROUPS:
        name = f"{low} to {high}" if high < GROUPS[-1][1] else f"{low} and more"
        rows.append(_row(name, [w for w in ends.waits_by_author.values() if low <= len(w) <= high]))
    return [*rows, _row("all", list(ends.waits_by_author.values()))]


def _row(name: str, waits: list[list[float]]) -> list[str]:
    if not waits:
        return [name, "0", "", "", "", ""]
    means = [statistics.fmean(each) for each in waits]
    every = [wait for each in waits for wait in each]
    figures = (statistics.median(every), quantile(every, 0.95), max(every))
    return [name, str(len(waits)), *(f"{each:.1f}" for each in figures), f"{gini(means):.2f}"]
