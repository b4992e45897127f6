"""Workers over a test's database, in this process or in one that can be killed."""

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import LiteralString

from kernelbot.moderation.reviews.model import ReviewRules
from kernelbot.protocol import SamplingRules
from kernelbot.server.settings import Settings
from kernelbot.server.supervise import START_CHILD
from kernelbot.server.tables import DeviceSettings, WorkerSettings
from kernelbot.server.work import open_worker
from kernelbot.server.worker_wiring import worker_database
from kernelbot.submissions.model import Submission
from kernelbot.worker.worker import Worker
from tests.support.kept_sessions import sessions_kept
from tests.support.world import World

FAKE_HARNESS = (sys.executable, "-m", "tests.fakes.host")
ROOT = Path(__file__).parents[2]
_HAS_ENDED: LiteralString = (
    "SELECT 1 FROM submissions WHERE id = %(id)s"
    " AND submission_state(id, review) IN ('finished', 'cancelled', 'held')"
)


def quick_settings(data: Path, *, slots: int = 2, known_right: bool = False) -> Settings:
    """With the fake host, and a worker that recovers within seconds. Without `known_right` nothing
    is judged but what was submitted."""
    return Settings(
        data=data,
        devices=(DeviceSettings(name="CPU", slots=slots),),
        harness_command=FAKE_HARNESS,
        warm=("numpy",),
        sampling=SamplingRules(min_samples=3),
        review=ReviewRules(known_right=known_right),
        worker=WorkerSettings(heartbeat_s=0.2, stale_s=2.0, sweep_s=0.2, grace_s=0.3),
    )


@contextlib.asynccontextmanager
async def opened_worker(settings: Settings, url: str) -> AsyncIterator[Worker]:
    """A worker with a database of its own."""
    async with contextlib.AsyncExitStack() as stack:
        with sessions_kept():
            database = await stack.enter_async_context(worker_database(url, settings))
        yield await stack.enter_async_context(open_worker(settings, database))


@contextlib.asynccontextmanager
async def working(settings: Settings, url: str) -> AsyncIterator[None]:
    """A worker in this process while the block runs."""
    stop = asyncio.Event()
    async with opened_worker(settings, url) as worker:
        task = asyncio.create_task(worker.run(stop))
        try:
            yield
        finally:
            stop.set()
            await task


class WorkerProcess:
    """A worker of its own process, to be killed."""

    def __init__(self, settings: Settings, url: str) -> None:
        config = settings.data / "kernelbot.toml"
        settings.data.mkdir(parents=True, exist_ok=True)
        rules = settings.worker
        command = ", ".join(f'"{word}"' for word in settings.harness_command)
        config.write_text(
            f"harness_command = [{command}]\n"
            'warm = ["numpy"]\n'
            f'[[devices]]\nname = "CPU"\nslots = {settings.devices[0].slots}\n'
            f"[sampling]\nmin_samples = {settings.sampling.min_samples}\n"
            f"[worker]\nheartbeat_s = {rules.heartbeat_s}\nstale_s = {rules.stale_s}\n"
            f"sweep_s = {rules.sweep_s}\ngrace_s = {rules.grace_s}\n"
            f"[review]\nknown_right = {str(settings.review.known_right).lower()}\n"
        )
        environment = {
            **os.environ,
            "DATABASE_URL": url,
            "KERNELBOT_DATA": str(settings.data),
            "KERNELBOT_CONFIG": str(config),
            "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)]),
        }
        self.process = subprocess.Popen(
            [*START_CHILD, "kernelbot.server.work"], env=environment, stdin=subprocess.PIPE
        )

    def kill(self) -> None:
        """SIGKILL."""
        self.process.kill()
        self.process.wait()

    def stop(self) -> None:
        """SIGTERM, and its end."""
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=60)

    def close(self) -> None:
        """Leave nothing."""
        if self.process.poll() is None:
            self.kill()
        assert self.process.stdin is not None
        self.process.stdin.close()


@contextlib.contextmanager
def worker_process(settings: Settings, url: str) -> Iterator[WorkerProcess]:
    """A worker process, gone afterwards."""
    worker = WorkerProcess(settings, url)
    try:
        yield worker
    finally:
        worker.close()


async def finished(world: World, submission_id: int, timeout_s: float = 60.0) -> Submission:
    """The submission when it has ended. Whether it has is asked all the time, so it is asked by a
    small statement."""
    values = {"id": submission_id}
    async with asyncio.timeout(timeout_s), world.database.read() as session:
        while await session.one(_HAS_ENDED, values) is None:  # noqa: ASYNC110  # no event for it
            await asyncio.sleep(0.03)
    return await world.services.submissions.get(world.admin.user, submission_id)


def kill_fake_hosts() -> None:
    """SIGKILL to every fake host that this process started."""
    signal_hosts(signal.SIGKILL, of=b"tests.fakes.host")


def signal_hosts(number: signal.Signals, *, of: bytes) -> int:
    """Signal every host of this program that this process started; returns how many."""
    found = hosts_that_live(of)
    for pid in found:
        os.kill(pid, number)
    return len(found)


def hosts_that_live(of: bytes) -> list[int]:
    """The process ids of the hosts of this program that this process started."""
    children = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split()
    return [int(pid) for pid in children if of in _command_line(pid)]


def _command_line(pid: str) -> bytes:
    """Empty if it has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""
