import asyncio
import importlib.util
import logging
from pathlib import Path

import psycopg
import pytest
import structlog
from procrastinate import App, PsycopgConnector
from procrastinate.exceptions import ConnectorException
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict

from kernelbot.server.background import (
    add_tasks,
    background_tasks,
    connector,
    forget_jobs,
    told_in_a_line,
)
from kernelbot.server.logs import set_up_logs
from kernelbot.server.settings import Settings
from kernelbot.server.tables import ExportSettings
from kernelbot.store.timeouts import DatabaseTimeouts
from tests.fakes.hub import TOKEN, fake_hub
from tests.support.postgres import LIMITS
from tests.support.waiting import until_told
from tests.support.world import World

_END_LISTENERS = (
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
    " AND datname = current_database() AND query LIKE '%LISTEN \"procrastinate%'"
)


@pytest.mark.skipif(
    importlib.util.find_spec("pyarrow") is None
    or importlib.util.find_spec("huggingface_hub") is None,
    reason="exports are an extra: pyarrow and huggingface_hub aren't installed",
)
async def test_the_worker_uploads_what_is_due(world: World, tmp_path: Path) -> None:
    await world.board()
    with fake_hub() as hub:
        export = ExportSettings(repository="lab/kernels", endpoint=hub.url)
        settings = Settings(data=tmp_path, hf_token=TOKEN, export=export)
        async with background_tasks(settings, world.database):
            uploaded = await asyncio.to_thread(hub.uploaded.wait, 100)
    dataset = hub.datasets["lab/kernels"]
    assert (True, True, ["submissions.parquet", "README.md"]) == (
        uploaded,
        dataset.private,
        list(dataset.files),
    )


EVERYWHERE = {"clean_up", "tell_deadlines", "forget_webhook_messages", "deliver_webhook"}
"""Tasks that workers of every release have."""


def with_exports(folder: Path) -> Settings:
    return Settings(data=folder, hf_token=TOKEN, export=ExportSettings(repository="lab/kernels"))


async def test_only_what_every_worker_has_shares_a_queue(world: World, tmp_path: Path) -> None:
    app = App(connector=connector(world.database.url, DatabaseTimeouts()))
    add_tasks(app, with_exports(tmp_path), world.database)
    ours = {name: task.queue for name, task in app.tasks.items() if "procrastinate" not in name}
    assert {"daily_export", "deliver_overdue"} == set(ours) - EVERYWHERE
    assert [] == [name for name in set(ours) - EVERYWHERE if ours[name] != name]


async def test_a_worker_leaves_what_it_does_not_have_to_others(
    world: World, tmp_path: Path
) -> None:
    """Such as the export, which is that of the worker with the Hub's token."""
    app = App(connector=connector(world.database.url, DatabaseTimeouts()))
    add_tasks(app, with_exports(tmp_path), world.database)
    found = "SELECT status::text FROM procrastinate_jobs WHERE task_name = %(name)s"
    async with app.open_async():
        await app.tasks["daily_export"].defer_async(timestamp=0)
        await app.tasks["clean_up"].defer_async(timestamp=0)

        async def is_clean() -> bool:
            return not await app.connector.execute_query_all_async(found, name="clean_up")

        async with background_tasks(Settings(data=tmp_path), world.database):
            await until_told(is_clean)
        left = await app.connector.execute_query_all_async(found, name="daily_export")
    assert [{"status": "todo"}] == left


async def test_tasks_have_the_limits_of_all_sessions(database_url: str) -> None:
    limits = DatabaseTimeouts(locked_s=1.0, slow_s=2.0, idle_s=3.0)
    made = connector(database_url, limits)
    async with App(connector=made).open_async():
        row = await made.execute_query_one_async(LIMITS)
    assert {"locked": "1s", "slow": "2s", "idle": "3s"} == row


async def test_a_database_that_is_away_is_no_traceback(
    world: World,
    database_url: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(logging.getLogger(), "handlers", [])
    set_up_logs(json=True)
    said = ""
    name = sql.Identifier(str(conninfo_to_dict(database_url)["dbname"]))
    limit = sql.SQL("ALTER DATABASE {} CONNECTION LIMIT {}")
    try:
        async with (
            await psycopg.AsyncConnection.connect(database_url, autocommit=True) as operator,
            background_tasks(Settings(data=tmp_path), world.database),
            asyncio.timeout(100),
        ):
            while "listener failed with exception" not in said:
                if (await operator.execute(_END_LISTENERS)).rowcount:
                    await operator.execute(limit.format(name, 0))
                await asyncio.sleep(0.1)
                said += capsys.readouterr().err
            await operator.execute(limit.format(name, -1))
    finally:
        structlog.reset_defaults()
    assert "Traceback" not in said + capsys.readouterr().err


def test_what_nobody_waited_for_is_told_in_a_line_too(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """procrastinate drops its tasks when its worker ends, and asyncio tells of their errors."""
    monkeypatch.setattr(logging.getLogger(), "handlers", [])
    set_up_logs(json=True)
    try:
        with told_in_a_line():
            for error in (ConnectorException("away"), ValueError("a mistake")):
                logging.getLogger("asyncio").error("never retrieved", exc_info=error)
    finally:
        structlog.reset_defaults()
    away, mistake = capsys.readouterr().err.splitlines()
    assert ("never retrieved: away" in away, "exception" in away) == (True, False)
    assert "exception" in mistake


async def test_what_has_run_out_is_deleted(world: World) -> None:
    await world.board()
    async with world.database.write() as session:
        await session.do(
            "INSERT INTO rate_uses SELECT b.id, 'test', u.id, now() - make_interval(hours => h)"
            " FROM leaderboards b, users u, generate_series(0, 2) h WHERE u.name = 'ada'"
        )
        await session.do(
            "INSERT INTO device_logins (device_hash, user_code, expires_at)"
            " VALUES (sha256('old'), 'OLD', now() - interval '1 second'),"
            " (sha256('new'), 'NEW', now() + interval '1 minute')"
        )
    await world.services.deletion.clean_up()
    async with world.database.read() as session:
        uses = await session.all("SELECT used_at FROM rate_uses")
        logins = await session.all("SELECT user_code FROM device_logins")
    assert (1, [{"user_code": "NEW"}]) == (len(uses), logins)


async def test_jobs_of_killed_workers_are_forgotten_and_others_stay(world: World) -> None:
    async with world.database.write() as session:
        await session.do(
            "WITH worker AS (INSERT INTO procrastinate_workers DEFAULT VALUES RETURNING id)"
            " INSERT INTO procrastinate_jobs (queue_name, task_name, status, worker_id)"
            " SELECT 'webhooks', 'followed', 'doing'::procrastinate_job_status, id FROM worker"
            " UNION ALL SELECT 'webhooks', 'left', 'doing', NULL"
            " UNION ALL SELECT 'webhooks', 'waiting', 'todo', NULL"
        )
    app = App(connector=PsycopgConnector(conninfo=world.database.url, min_size=1, max_size=2))
    async with app.open_async():
        await forget_jobs(app)
    async with world.database.read() as session:
        rows = await session.all("SELECT task_name FROM procrastinate_jobs ORDER BY id")
    assert ["followed", "waiting"] == [row["task_name"] for row in rows]
