"""What is said of each part that the platform needs."""

import asyncio
from typing import Any

import psycopg
import pytest

from kernelbot.platform.health.model import ReadinessPart
from kernelbot.platform.health.service import HealthService
from kernelbot.platform.service import COPY_NOTE
from kernelbot.runs.devices.service import NOBODY, Devices
from kernelbot.store.database import Database
from tests.support.world import DEVICES, World

DATABASE = ReadinessPart("database", True, "answers")
SCHEMA = ReadinessPart("schema", True, "current")


def checked(database: Database) -> HealthService:
    return HealthService(database, Devices(database, DEVICES))


async def test_without_a_worker_no_queue_and_no_device_is_ready(world: World) -> None:
    found = await checked(world.database).ready()
    assert (DATABASE, SCHEMA) == found.parts
    assert ReadinessPart("queue", False, "no worker takes jobs") == found.workers
    assert (
        ReadinessPart("device CPU", False, NOBODY),
        ReadinessPart("device H100", False, NOBODY),
    ) == found.devices


async def test_workers_are_counted_and_serve_devices(world: World) -> None:
    async with world.database.write() as session:
        await session.do("INSERT INTO workers (owner, node, heartbeat_at) VALUES ('w', 'n', now())")
        await session.do(
            "INSERT INTO worker_devices (owner, device, available, note) VALUES"
            " ('w', 'CPU', true, ''), ('w', 'H100', false, 'it hangs')"
        )
    found = await checked(world.database).ready()
    assert ReadinessPart("queue", True, "workers: 1") == found.workers
    assert (
        ReadinessPart("device CPU", True, ""),
        ReadinessPart("device H100", False, "it hangs"),
    ) == found.devices


async def test_a_worker_that_was_silent_for_half_a_minute_counts_for_dead(world: World) -> None:
    async with world.database.write() as session:
        await session.do(
            "INSERT INTO workers (owner, node, heartbeat_at)"
            " VALUES ('w', 'n', now() - interval '30.5 seconds')"
        )
    assert (
        ReadinessPart("queue", False, "no worker takes jobs")
        == (await checked(world.database).ready()).workers
    )


async def test_a_copy_judges_nothing_and_says_so(world: World) -> None:
    async with world.database.write() as session:
        await session.do("UPDATE platform SET is_copy = true")
    assert (
        ReadinessPart("queue", False, COPY_NOTE) == (await checked(world.database).ready()).workers
    )


async def test_a_schema_that_is_missing_is_named(empty_database_url: str) -> None:
    async with Database(empty_database_url) as database:
        found = await checked(database)._schema()
    assert ("schema", False) == (found.name, found.ok)


async def test_many_who_ask_at_once_take_one_connection_beside_the_pools(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    connect, made, open_at_once = psycopg.connect, list[psycopg.Connection](), list[int]()

    def counted(*given: Any, **named: Any) -> psycopg.Connection:
        made.append(connect(*given, **named))
        open_at_once.append(sum(not one.closed for one in made))
        return made[-1]

    monkeypatch.setattr(psycopg, "connect", counted)
    health = checked(world.database)
    found = await asyncio.gather(*(health.ready() for _ in range(20)))
    assert (1, {(DATABASE, SCHEMA)}) == (max(open_at_once), {one.parts for one in found})
