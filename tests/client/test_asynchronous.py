"""The methods that are awaited. What becomes of answers is the same code for both clients."""

import asyncio
import inspect
import json
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from kernelbot.client import AsyncKernelbotClient, BadAnswer, KernelbotClient, Refused, Unreachable
from kernelbot.domain.errors import NotFound, UserError
from tests.client.spoken import END, Handle, answer, event
from tests.support.live import live_server

NO = b'{"detail": "No.", "code": "not_found"}'


def contents(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def public(kind: object) -> set[str]:
    return {name for name in dir(kind) if not name.startswith("_")}


def test_both_clients_have_the_same_methods() -> None:
    both = (KernelbotClient("http://x"), AsyncKernelbotClient("http://x"))
    assert public(both[0]) == public(both[1])
    assert public(both[0].organise) == public(both[1].organise)
    described = [getattr(client, "create_board") for client in both]  # noqa: B009 (of either)
    assert inspect.signature(described[0]) == inspect.signature(described[1])


async def test_several_wait_at_once(serve: Callable[[Handle], str]) -> None:
    async with AsyncKernelbotClient(serve(lambda handler: answer(handler, 404, NO))) as client:
        found = await asyncio.gather(
            client.boards(), client.board("a"), client.tokens(), return_exceptions=True
        )
    assert ["No."] * 3 == [str(one) for one in found if isinstance(one, Refused)]


@pytest.mark.parametrize("body", [b"<html>", b"[]", b'{"boards": 3}'])
async def test_an_answer_of_another_kind_of_server(
    serve: Callable[[Handle], str], body: bytes
) -> None:
    async with AsyncKernelbotClient(serve(lambda handler: answer(handler, 200, body))) as client:
        with pytest.raises(BadAnswer, match="BoardList"):
            await client.boards()


async def test_nobody_there() -> None:
    async with AsyncKernelbotClient("http://127.0.0.1:1") as client:
        with pytest.raises(Unreachable, match="127"):
            await client.boards()
        with pytest.raises(Unreachable):
            await anext(aiter(client.events(7, patience_s=0.0)))


@pytest.mark.parametrize("name", ["", "..", "\udcff"])
async def test_what_can_not_be_sent_is_said_when_it_is_awaited(name: str) -> None:
    async with AsyncKernelbotClient("http://127.0.0.1:1") as client:
        asked = client.board(name)
        with pytest.raises(UserError):
            await asked


async def test_events_resume_where_the_connection_broke(serve: Callable[[Handle], str]) -> None:
    asked: list[str | None] = []

    def handle(handler: BaseHTTPRequestHandler) -> None:
        asked.append(handler.headers["Last-Event-ID"])
        handler.send_response(200)
        handler.end_headers()
        first = event(1) + event(2) + event(3)[:-10]
        handler.wfile.write(first if len(asked) == 1 else event(2) + event(3) + END)

    async with AsyncKernelbotClient(serve(handle)) as client:
        ids = [found.id async for found in client.events(7)]
    assert ([1, 2, 3], ["0", "2"]) == (ids, asked)


async def test_events_of_nothing_are_refused_at_once(serve: Callable[[Handle], str]) -> None:
    async with AsyncKernelbotClient(serve(lambda handler: answer(handler, 404, NO))) as client:
        with pytest.raises(Refused, match=r"No\."):
            await anext(aiter(client.events(7)))


async def test_a_file_is_there_once_it_is_complete(
    serve: Callable[[Handle], str], tmp_path: Path
) -> None:
    answers = [(200, b"trace"), (404, NO)]
    url = serve(lambda handler: answer(handler, *answers.pop(0)))
    async with AsyncKernelbotClient(url) as client:
        assert 5 == await client.artifact(1, 2, "trace.json", tmp_path / "a")
        with pytest.raises(Refused):
            await client.artifact(1, 2, "trace.json", tmp_path / "b")
        with pytest.raises(Unreachable):
            await AsyncKernelbotClient("http://127.0.0.1:1").artifact(1, 2, "c", tmp_path / "c")
    assert {"a": b"trace"} == contents(tmp_path)


async def test_a_method_of_several_requests_asks_for_each_page(
    serve: Callable[[Handle], str],
) -> None:
    asked: list[str] = []

    def handle(handler: BaseHTTPRequestHandler) -> None:
        asked.append(handler.path.rpartition("after_id=")[2])
        more = 100 if len(asked) == 1 else None
        answer(handler, 200, json.dumps({"users": [], "next_after_id": more}).encode())

    async with AsyncKernelbotClient(serve(handle)) as client:
        with pytest.raises(NotFound, match="no user named 'eve'"):
            await client.user_named("eve")
    assert ["0", "100"] == asked


def test_a_real_server_answers_both_alike(database_url: str) -> None:
    with live_server(database_url) as live:
        live.call(live.world.board())
        token = live.world.admin.token

        async def asked() -> list[object]:
            async with AsyncKernelbotClient(live.url, token) as client:
                user = await client.user_named("ada")
                return [
                    await client.boards(),
                    await client.me(),
                    user,
                    await client.ready(),
                    await client.organise.statistics(),
                    await client.standings_csv("sort"),
                    await client.unban(user.id),
                ]

        with KernelbotClient(live.url, token) as client:
            user = client.user_named("ada")
            expected = [
                client.boards(),
                client.me(),
                user,
                client.ready(),
                client.organise.statistics(),
                client.standings_csv("sort"),
                client.unban(user.id),
            ]
        assert expected == asyncio.run(asked())
