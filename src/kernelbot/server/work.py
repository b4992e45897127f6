"""`kernelbot worker`: one worker with the database at a URL."""

import asyncio
import contextlib
import socket
import sys
import uuid
from collections.abc import AsyncIterator
from pathlib import Path

from kernelbot.domain.errors import UserError
from kernelbot.harness.archive import build
from kernelbot.launchers.base import Launcher
from kernelbot.launchers.links import Links
from kernelbot.launchers.local import LocalLauncher, LocalSettings
from kernelbot.launchers.lockfile import LockFile, is_held
from kernelbot.launchers.table import LauncherPlace
from kernelbot.platform.notifications import Listener
from kernelbot.protocol.process_names import ProcessName, name_process
from kernelbot.runs.devices.model import DeviceConfig
from kernelbot.server.background import background_tasks
from kernelbot.server.copies import until_activated
from kernelbot.server.logs import set_up_logs
from kernelbot.server.settings import LOCAL, Settings, read_settings
from kernelbot.server.stopping import StopRequests
from kernelbot.server.watchdog import watched
from kernelbot.server.worker_wiring import node_links, open_run_lifecycle, worker_database
from kernelbot.store import migrate
from kernelbot.store.database import Database
from kernelbot.worker.worker import Worker, WorkerIdentity, WorkerRules

_TURNS = "kernelbot_turns"
_CANCELLED = "kernelbot_cancelled"


def run_worker(*, data: Path | None = None) -> None:
    """Judge runs until SIGTERM, SIGINT or the end of the terminal. Blocks.

    Raises `UserError` without DATABASE_URL: the embedded database has a worker of its own.
    """
    settings = read_settings(data=data)
    url = settings.external_database_url()
    if url is None:
        raise UserError(
            "`kernelbot worker` needs DATABASE_URL.",
            hint="With the embedded database, `kernelbot serve` already runs a worker.",
        )
    set_up_logs()
    asyncio.run(work(settings, url))


def main() -> None:
    """The worker as a child of `serve`: it ends when its parent ends, for whatever reason."""
    name_process(ProcessName.WORKER, keep_command=True)
    settings = read_settings()
    url = settings.external_database_url()
    assert url is not None, "`serve` passes it on"
    set_up_logs()
    asyncio.run(work(settings, url, parent=sys.stdin.fileno()))


async def work(settings: Settings, url: str, parent: int | None = None) -> None:
    """Judge runs until SIGTERM, SIGINT or the end of the terminal, or until the descriptor `parent`
    comes to its end. With a restored copy nothing begins before it is activated.

    Raises `SchemaOutdated`, `Unavailable` at the start.
    """
    await asyncio.to_thread(migrate.check_schema, url)
    stop = StopRequests(parent).asked
    await until_activated(url, stop)
    if stop.is_set():
        return
    async with (
        watched(),
        worker_database(url, settings) as database,
        background_tasks(settings, database),
        open_worker(settings, database) as worker,
    ):
        await worker.run(stop)


@contextlib.asynccontextmanager
async def open_worker(settings: Settings, database: Database) -> AsyncIterator[Worker]:
    """A worker with its launchers and a lock by which others can see that it is alive."""
    devices = settings.device_configs()
    owners = settings.data / "workers"
    owner = f"{socket.gethostname()}-{uuid.uuid4().hex[:12]}"
    lock = LockFile.acquire(owners / f"{owner}.lock")
    assert lock is not None, "the name was made for this process"
    try:
        async with (
            open_run_lifecycle(database, settings) as (judging, building),
            Listener(database.url, _TURNS, _CANCELLED) as listener,
        ):
            links = await node_links(database, settings)
            yield Worker(
                judging,
                launchers(settings, links, await judging.devices_for_torch()),
                devices,
                listener.channel(_TURNS),
                listener.channel(_CANCELLED),
                WorkerIdentity(
                    owner, socket.gethostname(), lambda names: _dead_owners(owners, names)
                ),
                WorkerRules(
                    settings.worker.heartbeat_s,
                    settings.worker.sweep_s,
                    settings.worker.grace_s,
                    settings.worker.stale_s,
                ),
                building,
            )
    finally:
        lock.release(remove=True)


def launchers(
    settings: Settings, links: Links | None = None, for_torch: frozenset[str] = frozenset()
) -> dict[str, Launcher]:
    """The launchers that the configured devices name, by name: others aren't started. `links`: for
    nodes that may reach this platform; None: they can't, or their jobs aren't in its database.
    `for_torch`: devices on which torch is loaded before the first job, unless `warm` says it.

    Raises `UserError` if a launcher's table and its devices don't fit.
    """
    devices = settings.device_configs()
    named = {name for device in devices for name in device.launchers}
    return {name: _launcher(settings, name, devices, links, for_torch) for name in sorted(named)}


def _launcher(
    settings: Settings,
    name: str,
    devices: tuple[DeviceConfig, ...],
    links: Links | None,
    for_torch: frozenset[str],
) -> Launcher:
    mine = tuple(device for device in devices if name in device.launchers)
    if name == LOCAL:
        commands = {
            each.spec.name: settings.host_command(each, torch=each.spec.name in for_torch)
            for each in mine
        }
        jobs = settings.data / "jobs"
        return LocalLauncher(LocalSettings(jobs, commands, settings.worker.host_stale_s))
    folder = settings.data / "launchers" / name
    environment = settings.launcher_environment()
    place = LauncherPlace(name, mine, folder, settings.sandbox, build, links, environment)
    return settings.launchers[name].build(place)


def _dead_owners(owners: Path, names: list[str]) -> list[str]:
    """The owners whose lock file is here and no longer locked."""
    return [name for name in names if is_held(owners / f"{name}.lock") is False]
