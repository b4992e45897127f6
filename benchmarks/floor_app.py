"""The floor of `benchmarks.floor`: Starlette, and one statement through psycopg's pool.

Run with `python -m benchmarks.floor_app URL PORT`.
"""

import contextlib
import sys
from collections.abc import AsyncIterator

import uvicorn
from psycopg_pool import AsyncConnectionPool
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

_STATEMENT = "SELECT id, name, role, created_at, banned_at FROM users WHERE id = %(id)s"


def app(url: str) -> Starlette:
    """Answers each request with a row that it finds by its key."""
    pool = AsyncConnectionPool(url, min_size=1, open=False, kwargs={"autocommit": True})

    @contextlib.asynccontextmanager
    async def opened(_: Starlette) -> AsyncIterator[None]:
        async with pool:
            yield

    async def answer(_: Request) -> Response:
        async with pool.connection() as connection:
            cursor = await connection.execute(_STATEMENT, {"id": 1})
            row = await cursor.fetchone()
        assert row is not None
        return Response(f'{{"name":"{row[1]}"}}', media_type="application/json")

    return Starlette(routes=[Route("/", answer)], lifespan=opened)


if __name__ == "__main__":
    uvicorn.run(app(sys.argv[1]), port=int(sys.argv[2]), http="httptools", log_level="warning")
