"""What the page for operators and the dashboard name is what the platform exports."""

import asyncio
import json
import re
from pathlib import Path

from prometheus_client import CollectorRegistry, generate_latest

from kernelbot.api.app import create_app
from kernelbot.server.metrics import gathered_metrics
from tests.support.world import World

_DOCS = Path(__file__).parent.parent / "docs"
_METRIC = re.compile(r"\bkernelbot_[a-z_]+[a-z]")


async def exported(world: World) -> set[str]:
    """The names of all series and families."""
    async with world.database.write() as session:
        await session.do("INSERT INTO workers (owner, node) VALUES ('w', 'n')")
        for name in ("verdicts", "launcher_errors", "runs_started", "wait_seconds"):
            await session.do(
                "INSERT INTO worker_counters VALUES ('w', %(name)s, 'x', 1)", {"name": name}
            )
    async with gathered_metrics(world.services) as registry:
        create_app(world.services, registry=registry)
        text = await _until_gathered(registry)
    families = set(re.findall(r"^# TYPE (\S+)", text, re.MULTILINE))
    histogram = {f"{name}_{part}" for name in families for part in ("bucket", "count")}
    return families | histogram


async def _until_gathered(registry: CollectorRegistry) -> str:
    for _ in range(200):
        text = generate_latest(registry).decode()
        if "kernelbot_verdicts_total" in text:
            return text
        await asyncio.sleep(0.05)
    raise TimeoutError("nothing was gathered")


async def test_the_dashboard_asks_for_metrics_that_there_are(world: World) -> None:
    board = json.loads((_DOCS / "operating" / "grafana.json").read_text())
    asked = {
        name
        for panel in board["panels"]
        for target in panel["targets"]
        for name in _METRIC.findall(target["expr"])
    }
    assert asked - await exported(world) == set()


async def test_what_has_not_happened_yet_is_0(world: World) -> None:
    async with gathered_metrics(world.services) as registry:
        nobody = await _until_gathered(registry)
    async with world.database.write() as session:
        await session.do("INSERT INTO workers (owner, node) VALUES ('w', 'n')")
        await session.do(
            "INSERT INTO worker_devices (owner, device, available, note)"
            " VALUES ('w', 'CPU', true, '')"
        )
        await session.do("INSERT INTO worker_counters VALUES ('w', 'verdicts', 'accepted', 3)")
    async with gathered_metrics(world.services) as registry:
        one = await _until_gathered(registry)
    wanted = {
        "kernelbot_workers 0.0": nobody,
        'kernelbot_device_available{device="CPU"} 0.0': nobody,
        'kernelbot_verdicts_total{verdict="internal_error",worker=""} 0.0': nobody,
        "kernelbot_workers 1.0": one,
        'kernelbot_device_available{device="CPU"} 1.0': one,
        'kernelbot_device_available{device="H100"} 0.0': one,
        'kernelbot_verdicts_total{verdict="internal_error",worker="w"} 0.0': one,
        'kernelbot_verdicts_total{verdict="accepted",worker="w"} 3.0': one,
        'kernelbot_launcher_errors_total{launcher="local",worker="w"} 0.0': one,
        'kernelbot_runs_started_total{device="CPU",worker="w"} 0.0': one,
        'kernelbot_wait_seconds_total{device="CPU",worker="w"} 0.0': one,
    }
    assert [] == [line for line, text in wanted.items() if line not in text.splitlines()]


async def test_the_page_tells_of_every_metric(world: World) -> None:
    told = set(_METRIC.findall((_DOCS / "operating.md").read_text()))
    families = {
        n for n in await exported(world) if not n.endswith(("_bucket", "_count", "_created"))
    }
    assert families - told == set()
