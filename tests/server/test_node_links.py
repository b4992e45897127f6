"""What a worker tells its launchers of links."""

from pathlib import Path
from typing import Any

from pydantic import PrivateAttr

from kernelbot.launchers.base import Launcher
from kernelbot.launchers.links import Links
from kernelbot.launchers.table import LauncherPlace
from kernelbot.server.tables import DeviceSettings
from tests.fakes.scheduler import FakeScheduler
from tests.support.launchers import FakeTable
from tests.support.workers import opened_worker, quick_settings

PUBLIC = "https://kernels.example/"


class Recording(FakeTable):
    _links: list[Links | None] = PrivateAttr(default_factory=list)

    def build(self, place: LauncherPlace) -> Launcher:
        self._links.append(place.links)
        return super().build(place)


async def told(folder: Path, url: str, **given: Any) -> Links | None:
    table = Recording(scheduler=FakeScheduler())
    update = {
        "devices": (DeviceSettings(name="CPU", launcher=("far",)),),
        "launchers": {"far": table},
        **given,
    }
    async with opened_worker(quick_settings(folder).model_copy(update=update), url):
        return table._links[0]


async def test_nodes_are_told_where_the_platform_is(tmp_path: Path, database_url: str) -> None:
    links = await told(tmp_path, database_url, public_url=PUBLIC)
    assert links is not None
    found = links.for_job("1.1.0123456789ab", 60)
    assert found.payload_url.startswith(f"{PUBLIC}api/v1/jobs/1.1.0123456789ab/payload?")


async def test_without_a_public_address_there_are_no_links(
    tmp_path: Path, database_url: str
) -> None:
    assert await told(tmp_path, database_url) is None
