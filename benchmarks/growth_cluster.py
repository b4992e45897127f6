"""What a run costs workers and Postgres, against workers and jobs in flight at a scheduler."""

import asyncio
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.cluster_sim import Load, simulate
from benchmarks.cluster_sim_plan import Options
from benchmarks.databases import running_postgres
from benchmarks.growth_rules import Curve, Point
from kernelbot.store.migrate import migrate

_SUBMISSIONS = 300
_RATE = 15.0
_USUAL_SPEED = 20.0


def against_workers(sizes: Sequence[int]) -> list[Curve]:
    """Worker processes that share one queue."""
    loads = {size: _load(Options(workers=size, speed=_USUAL_SPEED)) for size in sizes}
    return _curves("workers", loads)


def against_jobs(sizes: Sequence[int]) -> list[Curve]:
    """Jobs that schedulers have at once: the slower time runs there, the more at the same rate."""
    usual = sum(Options(rate=_RATE, speed=1.0).slots().values())
    loads = {size: _load(Options(speed=usual / size)) for size in sizes}
    return _curves("jobs in flight", loads)


def _load(options: Options) -> Load:
    chosen = Options(
        authors=50,
        submissions=_SUBMISSIONS,
        rate=_RATE,
        kills=0,
        workers=options.workers,
        speed=options.speed,
    )
    with (
        tempfile.TemporaryDirectory(prefix="kernelbot-growth-") as name,
        running_postgres(Path(name) / "postgres") as postgres,
    ):
        migrate(postgres.url)
        return asyncio.run(simulate(postgres.url, Path(name), chosen, postgres.pid))


def _curves(what: str, loads: dict[int, Load]) -> list[Curve]:
    parts = {
        "a run, workers": [load.worker_s for load in loads.values()],
        "a run, Postgres": [load.postgres_s for load in loads.values()],
    }
    return [
        Curve(
            what,
            of,
            tuple(
                Point(size, used_s * 1e3 / _SUBMISSIONS)
                for size, used_s in zip(loads, used, strict=True)
            ),
        )
        for of, used in parts.items()
    ]
