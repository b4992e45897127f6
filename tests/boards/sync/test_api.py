import io
import tarfile
from pathlib import Path

import pytest

from tests.support.door import Door
from tests.support.problem_sets import commit_all, write_competition, write_problem
from tests.support.ranked import ranked


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write_problem(tmp_path / "set", "one")
    write_competition(tmp_path / "set", "one")
    return tmp_path / "set"


async def test_a_repository(door: Door, root: Path) -> None:
    commit = commit_all(root)
    body = {"repository": f"file://{root}", "ref": "main"}
    answer = await door.admin.post("/api/v1/sync", json=body)
    item = {"action": "create", "board": "one", "competition": "Spring", "reason": "on CPU"}
    expected = {"source": f"file://{root}", "commit": commit, "applied": True}
    expected |= {"items": [item], "warnings": []}
    assert (200, expected) == (answer.status_code, answer.json())


async def test_a_device_more_leaves_the_ranking_as_it_is(door: Door, root: Path) -> None:
    body = {"repository": f"file://{root}"}
    commit_all(root)
    await door.admin.post("/api/v1/sync", json=body)
    await ranked(door.world, 1.0, board="one")
    address = "/api/v1/boards/one/standings?device=CPU"
    before = (await door.stranger.get(address)).json()
    write_competition(root, "one", gpus="[H100, CPU]")
    commit_all(root)
    (item,) = (await door.admin.post("/api/v1/sync", json=body)).json()["items"]
    shown = (await door.stranger.get("/api/v1/boards/one")).json()
    assert (["H100", "CPU"], 0) == (shown["devices"], shown["outdated_scores"])
    assert ("update", "devices: H100, CPU") == (item["action"], item["reason"])
    after = (await door.stranger.get(address)).json()
    assert (["ada"], before["standings"]) == (
        [row["author"] for row in before["standings"]],
        after["standings"],
    )


async def test_an_archive(door: Door, root: Path) -> None:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as tar:
        tar.add(root, arcname="x")
    answer = await door.admin.post(
        "/api/v1/sync/archive",
        files={"file": ("x.tgz", packed.getvalue())},
        data={"dry_run": "true"},
    )
    assert (200, False, ["create"]) == (
        answer.status_code,
        answer.json()["applied"],
        [item["action"] for item in answer.json()["items"]],
    )


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({}, (400, "bad_request")),
        ({"repository": "ext::sh -c id"}, (400, "bad_request")),
        ({"repository": "file:///nowhere/at/all"}, (400, "bad_request")),
        ({"repository": "a/b", "ref": "--upload-pack=id"}, (400, "bad_request")),
        ({"repository": "a/b", "surprise": 1}, (422, "invalid_request")),
        ({"repository": "\x00"}, (422, "invalid_request")),
    ],
)
async def test_a_sync_that_is_none(
    door: Door, body: dict[str, object], expected: tuple[int, str]
) -> None:
    answer = await door.admin.post("/api/v1/sync", json=body)
    assert expected == (answer.status_code, answer.json()["code"])


async def test_an_archive_that_is_none(door: Door) -> None:
    answer = await door.admin.post("/api/v1/sync/archive", files={"file": ("x", b"nonsense")})
    assert (422, "invalid_problem") == (answer.status_code, answer.json()["code"])


async def test_competitors_do_not_sync(door: Door) -> None:
    answer = await door.ada.post("/api/v1/sync", json={"repository": "a/b"})
    assert (403, "not_allowed") == (answer.status_code, answer.json()["code"])
