"""What a server hands out is built once, for whoever asks."""

import asyncio
import hashlib

import pytest

from kernelbot.domain.errors import NotFound, Unavailable
from kernelbot.platform.distribution import CLIENT_VERSION, wheel_name
from kernelbot.platform.downloads.service import Downloads

CLIENT, WHOLE, HARNESS = b"a wheel", b"a larger wheel", b"a zipapp"


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


async def test_each_file_is_built_once_and_known_by_its_hash() -> None:
    asked: list[bytes] = []

    def building(content: bytes) -> bytes:
        asked.append(content)
        return content

    downloads = Downloads(
        lambda: building(CLIENT), lambda: building(WHOLE), lambda: building(HARNESS)
    )
    harnesses = await asyncio.gather(*(downloads.harness(sha256(HARNESS)) for _ in range(3)))
    clients = await asyncio.gather(*(downloads.client() for _ in range(3)))
    assert [(HARNESS, sha256(HARNESS))] * 3 == [(one.content, one.sha256) for one in harnesses]
    assert [(CLIENT, sha256(CLIENT))] * 3 == [(one.content, one.sha256) for one in clients]
    assert [HARNESS, CLIENT] == asked


async def test_wheels_are_found_by_their_names() -> None:
    downloads = Downloads(lambda: CLIENT, lambda: WHOLE, lambda: HARNESS)
    client = await downloads.wheel(wheel_name(CLIENT_VERSION))
    whole = await downloads.wheel(wheel_name())
    assert (CLIENT, wheel_name(CLIENT_VERSION)) == (client.content, client.name)
    assert (WHOLE, wheel_name()) == (whole.content, whole.name)


async def test_another_file_is_not_there() -> None:
    downloads = Downloads(lambda: CLIENT, lambda: WHOLE, lambda: HARNESS)
    with pytest.raises(NotFound, match="another harness"):
        await downloads.harness("0" * 64)
    with pytest.raises(NotFound, match="client is kernelbot_platform-"):
        await downloads.wheel("kernelbot_platform-0.0.1-py3-none-any.whl")


async def test_what_could_not_be_built_is_tried_again() -> None:
    asked: list[None] = []

    def build() -> bytes:
        asked.append(None)
        if len(asked) == 1:
            raise Unavailable("no sources")
        return CLIENT

    downloads = Downloads(build, lambda: WHOLE, lambda: HARNESS)
    with pytest.raises(Unavailable):
        await downloads.client()
    assert CLIENT == (await downloads.client()).content


async def test_who_goes_away_takes_it_from_nobody() -> None:
    may_end = asyncio.Event()
    loop = asyncio.get_running_loop()

    def build() -> bytes:
        asyncio.run_coroutine_threadsafe(may_end.wait(), loop).result(timeout=60)
        return CLIENT

    downloads = Downloads(build, lambda: WHOLE, lambda: HARNESS)
    leaves, stays = asyncio.create_task(downloads.client()), asyncio.create_task(downloads.client())
    await asyncio.sleep(0)
    leaves.cancel()
    may_end.set()
    assert CLIENT == (await stays).content
