"""Large bodies of those who may not send them."""

from collections.abc import AsyncIterator

import pytest

from kernelbot.accounts.model import Role
from tests.support.door import Door, client_of

MIB = 1 << 20


class Body:
    """Fifteen MiB, and how much of it was read."""

    def __init__(self) -> None:
        self.read = 0

    async def pieces(self) -> AsyncIterator[bytes]:
        for _ in range(15):
            self.read += MIB
            yield b" " * MIB


@pytest.mark.parametrize("path", ["/api/v1/boards", "/api/v1/sync", "/api/v1/sync/archive"])
async def test_a_competitors_is_refused_unread(door: Door, path: str) -> None:
    body = Body()
    answer = await door.ada.post(path, content=body.pieces())
    assert (403, "not_allowed", 0) == (answer.status_code, answer.json()["code"], body.read)


async def test_a_creators_body_is_read_for_new_boards(door: Door) -> None:
    creator = await door.world.services.users.create("carl", Role.CREATOR)
    async with client_of(door.app, creator) as carl:
        paths = ("/api/v1/boards", "/api/v1/sync/archive")
        answers = [await carl.post(path, content=b"{}") for path in paths]
    assert [422, 403] == [answer.status_code for answer in answers]
