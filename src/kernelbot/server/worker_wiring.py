"""The few services that a worker needs, wired without the others: those load what answers requests,
a fifth of a worker's memory."""

import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from kernelbot.duels.dueling import configure
from kernelbot.harness.archive import build, sources_sha256
from kernelbot.harness.timing.turns import Turns
from kernelbot.launchers.links import Links
from kernelbot.moderation.triage import Triage
from kernelbot.runs.builds.reports import IdleReports
from kernelbot.runs.builds.service import Builds
from kernelbot.runs.devices.preflighting import idle_preflights
from kernelbot.runs.jobs import JobSpecs
from kernelbot.runs.lifecycle import RunLifecycle, RunRules
from kernelbot.runs.nodes.service import open_links
from kernelbot.server.settings import LOCAL, Settings
from kernelbot.store.database import Database
from kernelbot.worker.worker import Building

FOR_BACKGROUND = 2
"""How many of a worker's connections its background tasks use at once."""
_FOR_JUDGING = 8


def worker_database(url: str, settings: Settings) -> Database:
    limits = settings.database.limits()
    return Database(url, max_size=_FOR_JUDGING + FOR_BACKGROUND, limits=limits)


async def node_links(database: Database, settings: Settings) -> Links | None:
    """What nodes are told; None if no `public_url` is configured."""
    if settings.public_url is None:
        return None
    return await open_links(database, settings.public_url, harness())


def harness() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        return build(Path(folder) / "kernelbot-harness.pyz").read_bytes()


@asynccontextmanager
async def open_run_lifecycle(
    database: Database, settings: Settings
) -> AsyncIterator[tuple[RunLifecycle, Building]]:
    rules = RunRules(
        limits=settings.limits,
        sampling=settings.sampling,
        sandbox=settings.sandbox,
        stale_s=settings.worker.stale_s,
        review=settings.review,
        queue=settings.queue.rules(),
    )
    async with Triage() as triage:
        await configure(database, settings.duels.places if settings.duels.enabled else None)
        examined = triage if settings.review.triage else None
        devices = settings.device_configs()
        images = {device.spec.name: f"{sources_sha256()} {device.image}" for device in devices}
        idle = idle_preflights(devices, {LOCAL})
        jobs = JobSpecs(rules.limits, rules.sampling, rules.sandbox)
        yield (
            RunLifecycle(database, devices, rules, examined),
            Building(
                Builds(database, settings.builds.limit_bytes),
                images,
                IdleReports(database, idle.devices, jobs),
                idle.builder,
                Turns().is_taken,
            ),
        )
