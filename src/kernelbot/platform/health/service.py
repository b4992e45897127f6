"""Whether the platform can do its work."""

import asyncio

from kernelbot.domain.errors import KernelbotError, Unavailable
from kernelbot.platform import store as platform
from kernelbot.platform.health.model import Readiness, ReadinessPart
from kernelbot.platform.service import COPY_NOTE
from kernelbot.runs.devices import store as devices
from kernelbot.runs.devices.service import FRESH_S, Devices
from kernelbot.store import migrate
from kernelbot.store.database import Database


class HealthService:
    """Checks each part that the platform needs."""

    def __init__(self, database: Database, configured: Devices) -> None:
        self._database = database
        self._devices = configured
        self._checking: asyncio.Task[ReadinessPart] | None = None
        """The check of the schema that was begun last."""

    async def ready(self) -> Readiness:
        """Checks database, schema, queue and devices. Never raises for a part that is down."""
        try:
            async with self._database.read() as session:
                workers = await devices.workers(session, FRESH_S)
                copied = await platform.is_copy(session)
        except Unavailable as error:
            return Readiness((ReadinessPart("database", False, str(error)),))
        queue = ReadinessPart(
            "queue", workers > 0, f"workers: {workers}" if workers else "no worker takes jobs"
        )
        parts = (ReadinessPart("database", True, "answers"), await self._schema())
        if copied:
            queue = ReadinessPart("queue", False, COPY_NOTE)
        return Readiness(parts, queue, tuple(await self._device_parts()))

    async def _device_parts(self) -> list[ReadinessPart]:
        try:
            return [
                ReadinessPart(f"device {status.name}", status.available, status.note)
                for status in await self._devices.list_devices()
            ]
        except Unavailable as error:
            return [ReadinessPart("devices", False, str(error))]

    async def _schema(self) -> ReadinessPart:
        """One check for all who ask while it is made: each takes a connection that is none of the
        pool's, and anybody may ask."""
        if self._checking is None or self._checking.done():
            self._checking = asyncio.create_task(_schema_of(self._database.url))
        return await asyncio.shield(self._checking)  # who goes away takes it from nobody else


async def _schema_of(url: str) -> ReadinessPart:
    try:
        await asyncio.to_thread(migrate.check_schema, url)
    except KernelbotError as error:
        return ReadinessPart("schema", False, str(error))
    return ReadinessPart("schema", True, "current")
