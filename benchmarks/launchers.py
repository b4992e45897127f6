"""Each launcher on an idle scheduler, with many jobs at once, and with a worker that is killed.

Run with `python -m benchmarks.launchers [--jobs 100] [--idle 20] [--only local slurm ...]`, as
root, with Slurm installed. Database, services, worker and Slurm are real. GitHub, Buildkite and
Modal are the tests' stand-ins, which speak their protocols and run our own steps for real; two jobs
at a time, Modal all of them. The judge on the node is a stand-in that accepts at once, so that what
is measured is the way there and back. The exit code is 1 if anything was lost or doubled.
"""

import argparse
import asyncio
import contextlib
import logging
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, cast

import structlog
from scripts.slurm_cluster import slurm_cluster
from tests.launchers.plans import BuildkitePlan, GithubPlan, Plan, SlurmPlan
from tests.launchers.stages import (
    BuildkiteStage,
    GithubStage,
    LocalStage,
    ModalStage,
    SlurmStage,
    Stage,
)
from tests.support.plan_worker import plan_worker
from tests.support.postgres import TestServer, test_server
from tests.support.waiting import until
from tests.support.world import World, open_world

from kernelbot.accounts.model import User
from kernelbot.protocol import Mode
from kernelbot.render.table import table

KINDS = ("local", "slurm", "github", "buildkite", "modal")
WARM_UP = 2
PATIENCE_S = 120.0
_STEP_S = 0.01
_OPEN = "SELECT count(*) AS n FROM runs WHERE state NOT IN ('finished', 'cancelled')"
_ACCEPTED = "SELECT count(*) AS n FROM runs WHERE verdict = 'accepted'"
_TWICE = """
SELECT count(*) AS n FROM (
    SELECT run_id FROM attempts WHERE state = 'finished' GROUP BY run_id HAVING count(*) > 1
) doubled
"""
_AGAIN = "SELECT count(*) AS n FROM runs WHERE attempts > 1"


@dataclass(frozen=True)
class Ends:
    """Of many jobs at once."""

    took_s: float
    lost: int
    """Without a verdict, or with another than theirs."""
    doubled: int
    """Judged twice in one attempt, or with two results."""
    again: int
    """That needed another attempt."""


@contextlib.asynccontextmanager
async def opened(kind: str, folder: Path) -> AsyncIterator[Stage]:
    """A launcher with its scheduler, both of its own."""
    async with contextlib.AsyncExitStack() as stack:
        if kind == "slurm":
            cluster = stack.enter_context(slurm_cluster())
            yield await stack.enter_async_context(SlurmStage.on(folder, cluster))
            return
        stages = {"local": LocalStage, "github": GithubStage, "buildkite": BuildkiteStage}
        stage = cast(Any, {**stages, "modal": ModalStage}[kind])
        yield await stack.enter_async_context(stage.open(folder, None))


def as_configured(plan: Plan) -> Plan:
    """Asking as often as by default; tests ask more often."""
    if not isinstance(plan, SlurmPlan | GithubPlan | BuildkitePlan):
        return plan
    traits = next(each for each in fields(plan.settings) if each.name == "traits")
    usual = cast(Any, traits.default_factory)()
    settings: Any = replace(plan.settings, traits=usual)
    return replace(plan, settings=settings)


async def measure(server: TestServer, kind: str, jobs: int, idle: int) -> tuple[float, Ends, Ends]:
    """Median seconds on an idle scheduler; the ends of many; and of many with a worker killed."""
    with tempfile.TemporaryDirectory(prefix="kernelbot-") as name:
        folder = Path(name)
        folder.chmod(0o755)  # noqa: ASYNC240  # others' jobs are below it
        async with opened(kind, folder) as stage:
            with server.database() as url:
                median_s = await _idle(url, stage, folder, idle)
            with server.database() as url:
                many = await _many(url, stage, folder, jobs, killed=False)
            with server.database() as url:
                killed = await _many(url, stage, folder, jobs, killed=True)
    return median_s, many, killed


async def _idle(url: str, stage: Stage, folder: Path, count: int) -> float:
    times = []
    async with open_world(url) as world:
        await world.board()
        with plan_worker(as_configured(stage.plan), url, folder / "idle", 1):
            for _ in range(WARM_UP + count):
                began_s = time.monotonic()
                await _submit(world, world.ada.user, "accepted")
                await _until_over(world)
                times.append(time.monotonic() - began_s)
    return statistics.median(times[WARM_UP:])


async def _many(url: str, stage: Stage, folder: Path, jobs: int, *, killed: bool) -> Ends:
    """Half of them each author's. If it is killed, then once a tenth has begun; another follows."""
    before = Counter(stage.judged())
    own = folder / ("killed" if killed else "many")
    plan = as_configured(stage.plan)
    async with open_world(url) as world:
        await world.board()
        authors = [world.ada.user, world.bob.user]
        began_s = time.monotonic()
        for number in range(jobs):
            await _submit(world, authors[number % 2], "sleep 0.2 accepted")
        if killed:
            with plan_worker(plan, url, own, jobs) as worker:
                least = before.total() + jobs / 10
                await until(lambda: len(stage.judged()) >= least, PATIENCE_S)
                worker.kill()
        with plan_worker(plan, url, own, jobs):
            await _until_over(world)
            took_s = time.monotonic() - began_s
        judged = Counter(stage.judged()) - before
        twice = sum(count > 1 for count in judged.values())
        accepted, doubled, again = [
            await _count(world, each) for each in (_ACCEPTED, _TWICE, _AGAIN)
        ]
    return Ends(took_s, jobs - accepted, twice + doubled, again)


async def _submit(world: World, author: User, words: str) -> None:
    await world.submit(author, content=f"# fake: {words}\n".encode(), mode=Mode.TEST)


async def _until_over(world: World) -> None:
    """At the latest after `PATIENCE_S` without the end of any: what is open then counts as lost."""
    before, changed_s = -1, time.monotonic()
    while (left := await _count(world, _OPEN)) and time.monotonic() - changed_s < PATIENCE_S:
        if left != before:
            before, changed_s = left, time.monotonic()
        await asyncio.sleep(_STEP_S)


async def _count(world: World, statement: Any) -> int:
    async with world.database.read() as session:
        row = await session.one(statement)
    assert row is not None
    return int(row["n"])


def main() -> int:
    """Print a line for each."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--jobs", type=int, default=100)
    parser.add_argument("--idle", type=int, default=20)
    parser.add_argument("--only", nargs="+", choices=KINDS, default=KINDS)
    arguments = parser.parse_args()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
    rows, whole = [], True
    with test_server() as server:
        for kind in arguments.only:
            found = asyncio.run(measure(server, kind, arguments.jobs, arguments.idle))
            median_s, *both = found
            whole = whole and not any(ends.lost or ends.doubled for ends in both)
            cells = [f"{ends.took_s:.0f}" for ends in both]
            counts = [(str(ends.lost), str(ends.doubled), str(ends.again)) for ends in both]
            rows.append([kind, f"{median_s * 1e3:.0f}", cells[0], *counts[0], cells[1], *counts[1]])
    ends = ("s", "lost", "doubled", "again")
    headers = ("launcher", "idle ms", *ends, *(f"killed: {word}" for word in ends))
    print(f"{arguments.jobs} jobs at once, {arguments.idle} one by one on an idle scheduler:\n")
    print(table(headers, rows, right=headers[1:]))
    return int(not whole)


if __name__ == "__main__":
    sys.exit(main())
