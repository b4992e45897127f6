"""A socket before a Postgres that lets nobody through at once, as on a slow machine."""

import asyncio
import contextlib
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path

from psycopg.conninfo import conninfo_to_dict, make_conninfo


@contextlib.asynccontextmanager
async def late_door(url: str, late_s: float) -> AsyncIterator[str]:
    """How the database is reached by a socket that passes nothing on for as long after each
    connection."""
    place = conninfo_to_dict(url)
    name = f".s.PGSQL.{place['port']}"
    behind = Path(str(place["host"])) / name
    visits: set[asyncio.Task[None] | None] = set()

    async def let_in(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        visits.add(asyncio.current_task())
        with contextlib.closing(writer):
            await asyncio.sleep(late_s)
            answers, questions = await asyncio.open_unix_connection(behind)
            with contextlib.closing(questions):
                await asyncio.gather(_pass_on(reader, questions), _pass_on(answers, writer))

    with tempfile.TemporaryDirectory(prefix="kb-") as folder:
        server = await asyncio.start_unix_server(let_in, Path(folder) / name)
        try:
            yield make_conninfo(url, host=folder)
        finally:
            server.close()
            for visit in filter(None, visits):
                visit.cancel()
            await asyncio.gather(*filter(None, visits), return_exceptions=True)


async def _pass_on(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    with contextlib.suppress(ConnectionError):
        while text := await source.read(65536):
            sink.write(text)
            await sink.drain()
    sink.close()
