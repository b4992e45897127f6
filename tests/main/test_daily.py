import asyncio
import importlib.util
from pathlib import Path

import pytest

from kernelbot.main.daily import daily_exports
from kernelbot.main.settings import Settings
from kernelbot.main.tables import ExportSettings
from tests.fakes.hub import TOKEN, fake_hub
from tests.support.world import World


@pytest.mark.skipif(
    importlib.util.find_spec("pyarrow") is None
    or importlib.util.find_spec("huggingface_hub") is None,
    reason="exports are an extra: pyarrow and huggingface_hub aren't installed",
)
async def test_the_worker_uploads_what_is_due(world: World, tmp_path: Path) -> None:
    await world.board()
    with fake_hub() as hub:
        export = ExportSettings(repository="lab/kernels", endpoint=hub.url)
        settings = Settings(data=tmp_path, hf_token=TOKEN, export=export)
        async with daily_exports(settings, world.database.url):
            uploaded = await asyncio.to_thread(hub.uploaded.wait, 30)
    dataset = hub.datasets["lab/kernels"]
    assert (True, True, ["submissions.parquet"]) == (uploaded, dataset.private, list(dataset.files))
