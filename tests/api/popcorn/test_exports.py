import importlib.util
from collections.abc import AsyncIterator
from dataclasses import replace

import httpx
import pytest

from kernelbot.api.app import create_app
from kernelbot.api.settings import ApiSettings
from kernelbot.platform.exports.model import ExportRules
from kernelbot.platform.exports.service import Exports
from tests.fakes.hub import TOKEN, FakeHub, fake_hub
from tests.support.applications import application
from tests.support.live import ADMIN_TOKEN
from tests.support.world import World

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("pyarrow") is None
    or importlib.util.find_spec("huggingface_hub") is None,
    reason="exports are an extra: pyarrow and huggingface_hub aren't installed",
)


@pytest.fixture
async def hub(world: World) -> AsyncIterator[FakeHub]:
    with fake_hub() as running:
        yield running


@pytest.fixture
async def organiser(world: World, hub: FakeHub) -> AsyncIterator[httpx.AsyncClient]:
    rules = ExportRules("a key of sixteen", TOKEN, "lab/kernels", hub.url)
    services = replace(world.services, exports=Exports(world.database, rules))
    app = application(create_app, services, ApiSettings(admin_token=ADMIN_TOKEN))
    transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
    headers = {"Authorization": f"Bearer {ADMIN_TOKEN}"}
    async with httpx.AsyncClient(
        transport=transport, base_url="http://test", headers=headers
    ) as client:
        yield client


@pytest.mark.exhaustive  # each run has test_an_export_that_is_none
async def test_boards_are_exported_by_number(
    world: World, hub: FakeHub, organiser: httpx.AsyncClient
) -> None:
    board = await world.board()
    await world.submit()
    body = {"leaderboard_ids": [board.id], "filename": "x.parquet"}
    answer = (await organiser.post("/admin/export-hf", json=body)).json()
    assert ("ok", ["sort"], 1) == (
        answer["status"],
        answer["leaderboards"],
        answer["submissions"],
    )
    dataset = hub.datasets["lab/kernels"]
    assert (True, ["x.parquet", "README.md"]) == (dataset.private, list(dataset.files))


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"private": False}, 400),
        ({"filename": "x.csv"}, 400),
        ({"leaderboard_ids": []}, 400),
        ({"leaderboard_ids": [999]}, 404),
        ({"leaderboard_ids": ["1"]}, 400),
    ],
)
async def test_an_export_that_is_none(
    world: World,
    hub: FakeHub,
    organiser: httpx.AsyncClient,
    change: dict[str, object],
    status: int,
) -> None:
    board = await world.board()
    body = {"leaderboard_ids": [board.id], "filename": "x.parquet", **change}
    answer = await organiser.post("/admin/export-hf", json=body)
    assert (status, str, {}) == (answer.status_code, type(answer.json()["detail"]), hub.datasets)
