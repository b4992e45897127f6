import pytest

from tests.support.door import Door


async def test_a_board_with_submissions_needs_force(door: Door) -> None:
    await door.world.board()
    await door.world.submit()
    refused = await door.admin.delete("/api/v1/boards/sort")
    gone = await door.admin.delete("/api/v1/boards/sort?force=true")
    assert (409, 200, 1) == (refused.status_code, gone.status_code, gone.json()["submissions"])


async def test_an_author_deletes_their_own(door: Door) -> None:
    await door.world.board()
    sent = await door.world.submit()
    foreign = await door.bob.delete(f"/api/v1/submissions/{sent.id}")
    own = await door.ada.delete(f"/api/v1/submissions/{sent.id}")
    again = await door.ada.delete(f"/api/v1/submissions/{sent.id}")
    assert (403, 200, 404) == (foreign.status_code, own.status_code, again.status_code)


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("DELETE", "boards/sort"),
        ("DELETE", "boards/sort/submissions?user=ada"),
    ],
)
async def test_competitors_organise_nothing(door: Door, method: str, path: str) -> None:
    await door.world.board()
    answer = await door.ada.request(method, f"/api/v1/{path}")
    assert (403, "not_allowed") == (answer.status_code, answer.json()["code"])
