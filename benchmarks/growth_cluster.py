"""What a run costs workers and Postgres, against workers and jobs in flight at a scheduler."""

import asyncio
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks.cluster_sim import Load, simulate
from benchmarks.cluster_sim_launchers import SCHEDULERS
from benchmarks.cluster_sim_plan import RANKED, Options
from benchmarks.databases import running_postgres
from benchmarks.growth_rules import Curve, Point
from kernelbot.store.migrate import migrate

_USUAL = Options(authors=50, submissions=300, rate=15.0, speed=20.0, kills=0)
_SLOW = 0.5
"""Simulated seconds per second: a job is under way for more than a minute."""
_BATCHES = 1.5
"""So many times as many submissions as are in flight at once: the last of them find it full."""
_FEWEST = 20


def against_workers(sizes: Sequence[int]) -> list[Curve]:
    """Worker processes that share one queue."""
    return _curves("workers", {size: replace(_USUAL, workers=size) for size in sizes})


def against_jobs(sizes: Sequence[int]) -> list[Curve]:
    """Jobs that schedulers have at once, of a rate that keeps so many there."""
    return _curves("jobs in flight", {size: _in_flight(size) for size in sizes})


def _in_flight(jobs: int) -> Options:
    lasts_s = sum(each.share * each.mean_s for each in SCHEDULERS) / _SLOW
    rate = jobs / lasts_s / (1 + RANKED)
    return replace(_USUAL, submissions=max(_FEWEST, round(_BATCHES * jobs)), rate=rate, speed=_SLOW)


def _load(options: Options) -> Load:
    with (
        tempfile.TemporaryDirectory(prefix="kernelbot-growth-") as name,
        running_postgres(Path(name) / "postgres") as postgres,
    ):
        migrate(postgres.url)
        return asyncio.run(simulate(postgres.url, Path(name), options, postgres.pid))


def _curves(what: str, asked: dict[int, Options]) -> list[Curve]:
    loads = {size: _load(options) for size, options in asked.items()}
    parts = {
        "a run, workers": [load.worker_s for load in loads.values()],
        "a run, Postgres": [load.postgres_s for load in loads.values()],
    }
    return [
        Curve(
            what,
            of,
            tuple(
                Point(size, used_s * 1e3 / options.submissions)
                for (size, options), used_s in zip(asked.items(), used, strict=True)
            ),
        )
        for of, used in parts.items()
    ]
