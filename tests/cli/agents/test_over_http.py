"""The tools over HTTP: each caller by the token that they send."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

pytest.importorskip("mcp", reason="the tools for agents are an extra: no mcp")

import httpx2
import uvicorn
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client

from kernelbot.cli.agents.server import serve_callers, server_of_callers, token_of
from kernelbot.domain.errors import UserError
from tests.support.live import LiveServer


@asynccontextmanager
async def tools(url: str) -> AsyncIterator[str]:
    """The address of the tools over the server at `url`."""
    app = server_of_callers(url).streamable_http_app()
    server = uvicorn.Server(uvicorn.Config(app, log_config=None, timeout_graceful_shutdown=1))
    with socket.create_server(("127.0.0.1", 0)) as listening:
        task = asyncio.create_task(server.serve(sockets=[listening]))
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}/mcp"
        finally:
            server.should_exit = True
            await task


async def call(address: str, token: str | None, tool: str, **arguments: object) -> tuple[bool, str]:
    """Whether a tool refused, and the text that it answered."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60) as http,
        Client(streamable_http_client(address, http_client=http)) as client,
    ):
        done = await client.call_tool(tool, arguments)
    return bool(done.is_error), "".join(getattr(part, "text", "") for part in done.content)


async def test_callers_are_who_their_token_says(live: LiveServer) -> None:
    live.call(live.world.board())
    number = live.call(live.world.submit()).id
    async with tools(live.url) as address:
        hers = await call(address, live.world.ada.token, "read_report", submission_id=number)
        others = await call(address, live.world.bob.token, "read_report", submission_id=number)
        nobodys = await call(address, None, "read_report", submission_id=number)
        wrong = await call(address, "a'; echo x", "list_boards")
        public = await call(address, None, "list_boards")
    assert [False, True, True, True, False] == [
        refused for refused, _ in (hers, others, nobodys, wrong, public)
    ]
    assert "someone else's" in others[1]
    assert "token" in nobodys[1]


async def test_nothing_is_judged_where_the_tools_are(live: LiveServer) -> None:
    async with tools(live.url) as address, Client(address) as client:
        names = {tool.name for tool in (await client.list_tools()).tools}
    assert {"list_boards", "submit"} <= names
    assert "run_locally" not in names


@pytest.mark.parametrize(
    ("header", "token"),
    [
        ("Bearer abc", "abc"),
        ("bearer  abc ", "abc"),
        ("Basic abc", None),
        ("Bearer", None),
        ("", None),
    ],
)
def test_the_token_of_a_header(header: str, token: str | None) -> None:
    assert token == token_of(header)


async def test_a_web_page_of_another_host_cannot_call_them(live: LiveServer) -> None:
    headers = {"Host": "evil.example", "Accept": "application/json, text/event-stream"}
    async with tools(live.url) as address, httpx2.AsyncClient(headers=headers, timeout=60) as http:
        answer = await http.post(address, json={"jsonrpc": "2.0", "id": 1, "method": "ping"})
    assert 421 == answer.status_code


def test_a_taken_port_is_named() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as taken,
        pytest.raises(UserError, match="Can't listen on") as refused,
    ):
        serve_callers("http://127.0.0.1:1", "127.0.0.1", taken.getsockname()[1])
    assert "Choose another with --port." == refused.value.hint
