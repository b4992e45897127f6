"""Prometheus metrics from the database. The API itself measures HTTP latencies."""

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Iterator

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from kernelbot.domain.errors import Unavailable
from kernelbot.protocol import Verdict
from kernelbot.runs.devices.service import Busyness
from kernelbot.services import Services

SHARED_METRICS = "PROMETHEUS_MULTIPROC_DIR"
"""Environment variable of processes that share a port: the folder of their common counters. The
library reads it when it is imported."""

_PERIOD_S = 5.0
_COUNTERS = {
    "verdicts": ("kernelbot_verdicts", "Runs finished, by verdict.", "verdict"),
    "launcher_errors": ("kernelbot_launcher_errors", "Attempts lost, by launcher.", "launcher"),
    "runs_started": ("kernelbot_runs_started", "Attempts begun, by device.", "device"),
    "wait_seconds": (
        "kernelbot_wait_seconds",
        "Total seconds that runs waited before they began, by device.",
        "device",
    ),
}


class _Collector(Collector):
    """Shows what was read last, so that a scrape never waits for the database."""

    def __init__(self) -> None:
        self.latest: Busyness | None = None

    def collect(self) -> Iterator[Metric]:
        found = self.latest
        yield GaugeMetricFamily(
            "kernelbot_database_up", "1 when the database answers.", value=float(found is not None)
        )
        if found is None:
            return
        waiting = GaugeMetricFamily("kernelbot_queue_depth", "Runs waiting.", labels=["device"])
        running = GaugeMetricFamily("kernelbot_running", "Runs being judged.", labels=["device"])
        oldest = GaugeMetricFamily(
            "kernelbot_longest_wait_seconds", "Age of the oldest waiting run.", labels=["device"]
        )
        for device, load in found.load.items():
            waiting.add_metric([device], load.queued)
            running.add_metric([device], load.running)
            oldest.add_metric([device], load.longest_wait_s)
        available = GaugeMetricFamily(
            "kernelbot_device_available", "1 when a worker can use the device.", labels=["device"]
        )
        for device, usable in found.available.items():
            available.add_metric([device], float(usable))
        yield from (waiting, running, oldest, available)
        yield GaugeMetricFamily(
            "kernelbot_workers", "Workers that are alive.", value=len(found.workers)
        )
        for key, (name, text, label) in _COUNTERS.items():
            family = CounterMetricFamily(name, text, labels=["worker", label])
            for (owner, value), count in sorted(_counted(found, key, label).items()):
                family.add_metric([owner, value], count)
            yield family


def _counted(found: Busyness, key: str, label: str) -> dict[tuple[str, str], float]:
    """By worker and label. Each worker that is alive has each label, from before the first event
    on: a rate doesn't see what a series begins with. Without any worker nobody's are 0."""
    labels = {
        "verdict": [verdict.value for verdict in Verdict],
        "launcher": found.launchers,
        "device": list(found.load),
    }
    counted = {(owner, each): 0.0 for owner in found.workers or [""] for each in labels[label]}
    counts = (count for count in found.counts if count.name == key)
    return counted | {(count.owner, count.label): count.value for count in counts}


@contextlib.asynccontextmanager
async def gathered_metrics(services: Services) -> AsyncIterator[CollectorRegistry]:
    """A registry that is kept up to date while the block runs. With `SHARED_METRICS` it also shows
    what all the processes have counted."""
    registry, collector = CollectorRegistry(), _Collector()
    registry.register(collector)
    if SHARED_METRICS in os.environ:
        MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    task = asyncio.create_task(_gather(services, collector), name="metrics")
    try:
        yield registry
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


async def _gather(services: Services, collector: _Collector) -> None:
    while True:
        try:
            collector.latest = await services.devices.busyness()
        except Unavailable:
            collector.latest = None
        await asyncio.sleep(_PERIOD_S)
