"""How much of what a device can do a score reached: the same at each door."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from kernelbot.protocol import DeviceSpec, Floor, Mode, Vendor
from kernelbot.submissions.model import Submission
from tests.support.live import LiveServer, live_server
from tests.support.problems import sort_problem
from tests.support.terminal import Shell
from tests.support.workers import finished, quick_settings, working
from tests.support.world import DEVICES, World

PEAKS = DeviceSpec("CPU", Vendor.CPU, peak_flops=1e12, peak_bytes_per_s=1e9)


@pytest.fixture
def live(database_url: str) -> Iterator[LiveServer]:
    devices = (replace(DEVICES[0], spec=PEAKS),)
    with live_server(database_url, devices=devices) as server:
        yield server


async def judged(world: World, data: Path) -> Submission:
    """Ada's, whose least work takes 0.1 s, in 0.2 s."""
    problem = sort_problem()
    floors = (Floor(1e6, 1e8),) * len(problem.spec.benchmarks)
    await world.services.boards.create(
        world.admin.user,
        replace(problem, spec=replace(problem.spec, floors=floors)),
        name="sort",
        devices=("CPU",),
    )
    async with working(quick_settings(data), world.database.url):
        content = b"# fake: accepted 0.2 0.2 0.2\n"
        sent = await world.submit(mode=Mode.BENCHMARK, content=content)
        return await finished(world, sent.id)


def test_the_terminal_says_it_where_the_page_does(live: LiveServer, tmp_path: Path) -> None:
    number = live.call(judged(live.world, tmp_path / "data")).id
    environment = {"KERNELBOT_URL": live.url, "KERNELBOT_TOKEN": live.world.ada.token}
    shell = Shell(tmp_path, environment)
    expected = "This kernel reaches 50 % of the bandwidth."
    texts = [shell("submission", one, str(number)).out for one in ("wait", "show")]
    assert [True, True] == [expected in " ".join(text.split()) for text in texts]
    (found,) = shell("submission", "show", str(number), "--json").document["comparisons"]
    assert {"is_memory": True, "share": 0.5, "at_least_s": 0.1} == found["limit"]
