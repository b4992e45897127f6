"""A thousand submissions at once: each is either accepted completely or refused with a reason."""

import asyncio
from collections import Counter

import httpx
import pytest

from tests.support.door import Door

COUNT = 1000


async def flood(door: Door) -> list[httpx.Response]:
    """By three people at once."""
    people = (door.ada, door.bob, door.admin)

    async def send(number: int) -> httpx.Response:
        return await people[number % len(people)].post(
            "/api/v1/submissions",
            files={"file": ("fast.py", f"# {number}\n".encode())},
            data={"board": "sort", "mode": "test"},
            timeout=60,
        )

    return await asyncio.gather(*(send(number) for number in range(COUNT)))


@pytest.mark.exhaustive
async def test_of_a_flood_everything_is_taken_or_refused_with_a_reason(door: Door) -> None:
    await door.world.board()
    answers = await flood(door)
    taken = sorted(answer.json()["id"] for answer in answers if answer.status_code == 201)
    async with door.world.database.read() as session:
        rows = await session.all(
            "SELECT s.id, count(r.id) AS runs FROM submissions s"
            " LEFT JOIN runs r ON r.submission_id = s.id"
            " GROUP BY s.id ORDER BY s.id"
        )
    # What was taken is there with its run; of what was refused nothing is.
    assert [(one, 1) for one in taken] == [(r["id"], r["runs"]) for r in rows]
    assert all(answer.json()["detail"] for answer in answers if answer.status_code != 201)
    # At most 100 of one person's wait; beyond that, or beyond what can be answered in time.
    assert Counter(answer.status_code for answer in answers).keys() <= {201, 429, 503}
    assert 0 < len(taken) <= 300
