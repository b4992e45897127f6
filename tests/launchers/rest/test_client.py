"""What both launchers over HTTP rely on."""

import contextlib
import gzip
import socket
from collections.abc import AsyncIterator, Callable

import pytest

from kernelbot.domain.errors import SchedulerError
from kernelbot.launchers.rest.client import Http, HttpAnswer, SchedulerAnswer, TooLarge, read
from tests.fakes.serving import Request, Response, serving
from tests.fakes.storage import fake_storage

TOKEN = {"Authorization": "Bearer ghp_secret"}


class Thing(SchedulerAnswer):
    id: int
    name: str


@contextlib.asynccontextmanager
async def talking(
    handle: Callable[[Request], Response], timeout_s: float = 10
) -> AsyncIterator[Http]:
    with serving(handle, "a scheduler") as url:
        http = Http("It", url, timeout_s)
        yield http
        await http.close()


async def answered(body: bytes) -> HttpAnswer:
    async with talking(lambda _: Response(200, body)) as http:
        return await http.request("GET", "/", headers={})


async def test_an_answer_is_read_as_what_it_should_be() -> None:
    found = read(Thing, await answered(b'{"id": 1, "name": "a", "more": []}'), "It", "a thing")
    assert found == Thing(id=1, name="a")


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>502</html>",
        b"null",
        b"[]",
        b'{"id": "1", "name": "a"}',
        b'{"id": 1.5, "name": "a"}',
        b'{"id": true, "name": "a"}',
        b'{"id": NaN, "name": "a"}',
        b'{"id": 1}',
        b'{"id": 1, "name": "\xff"}',
        b"[" * 100_000,
        b"\x00",
    ],
)
async def test_an_answer_of_another_shape_is_the_schedulers_failure(body: bytes) -> None:
    with pytest.raises(SchedulerError, match=r"It answered .* instead of a thing"):
        read(Thing, await answered(body), "It", "a thing")


@pytest.mark.parametrize("packed", [False, True])
async def test_an_endless_answer_is_cut_off(packed: bool) -> None:
    body = gzip.compress(bytes(5_000_000)) if packed else bytes(5_000_000)
    headers = {"Content-Encoding": "gzip"} if packed else {}
    async with talking(lambda _: Response(200, body, headers)) as http:
        with pytest.raises(TooLarge, match="more than 1 MiB"):
            await http.request("GET", "/", headers={}, max_bytes=1 << 20)


async def test_one_that_never_answers_is_given_up() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        http = Http("It", f"http://127.0.0.1:{silent.getsockname()[1]}", 0.1)
        with pytest.raises(SchedulerError, match="didn't answer within"):
            await http.request("GET", "/", headers=TOKEN)
        await http.close()


async def test_one_that_isnt_there_is_told_without_the_token() -> None:
    http = Http("It", "http://127.0.0.1:9", 1)
    with pytest.raises(SchedulerError, match="can't be reached") as caught:
        await http.request("GET", "/", headers=TOKEN)
    await http.close()
    assert "ghp_secret" not in repr(caught.value)


async def test_storage_gets_no_token() -> None:
    with fake_storage() as storage:
        url = storage.sign(b"the zip")
        async with talking(lambda _: Response(302, b"", {"Location": url})) as http:
            answer = await http.download("/zip", headers=TOKEN, max_bytes=100)
        assert (answer.status, answer.content, storage.leaked) == (200, b"the zip", [])


@pytest.mark.parametrize(
    "location", ["file:///etc/passwd", "ftp://a/b", "//[", "gopher://a", "http://a b/\x7f"]
)
async def test_a_redirect_to_something_else_is_not_followed(location: str) -> None:
    async with talking(lambda _: Response(302, b"", {"Location": location})) as http:
        with pytest.raises(SchedulerError):
            await http.download("/zip", headers=TOKEN, max_bytes=100)


async def test_redirects_come_to_an_end() -> None:
    async with talking(lambda _: Response(302, b"", {"Location": "/again"})) as http:
        with pytest.raises(SchedulerError, match="again and again"):
            await http.download("/zip", headers=TOKEN, max_bytes=100)


async def test_a_request_after_the_end_opens_new_connections() -> None:
    async with talking(lambda _: Response(200, b"yes")) as http:
        await http.close()
        await http.close()
        assert (await http.request("GET", "/", headers={})).content == b"yes"
