"""Sources judged by real harnesses in the tasks of a real Ray, reached by its client."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from kernelbot import Judge
from kernelbot.domain.errors import Unavailable, UserError
from kernelbot.protocol import Fault, Verdict
from tests.library.sources import ENDLESS, HOSTILE, REFUSED, RIGHT, WRONG
from tests.support.ray_cluster import RayCluster, ray_cluster
from tests.support.waiting import until
from tests.support.warm import busy_below

pytestmark = pytest.mark.timeout(900)  # seconds of a processor, which others may share
SLOW = RIGHT.replace(
    "    return", "    import time\n    while time.process_time() < 5: pass\n    return"
)


@pytest.fixture(scope="module")
def cluster() -> Iterator[RayCluster]:
    """Its oldest node has two processors, and a GPU by its own word."""
    with ray_cluster(for_clients=True) as found:
        add_node(found)
        yield found


def add_node(cluster: RayCluster) -> None:
    cluster.add(num_cpus=2, num_gpus=1, resources={"accelerator_type:H100": 1})


def busy(cluster: RayCluster) -> list[int]:
    return busy_below(cluster.process.pid)


@pytest.fixture
async def judge(home: Path, cluster: RayCluster) -> AsyncIterator[Judge]:
    async with Judge(cluster.client_address, slots=2) as opened:
        yield opened


@pytest.mark.exhaustive
async def test_each_source_has_the_report_that_it_has_here(judge: Judge, sums: Path) -> None:
    sources = [RIGHT, WRONG, ENDLESS, HOSTILE["kills itself"], REFUSED["10 MB"]]
    pairs = [(sums, source) for source in sources]
    reports = {report.number: report async for report in judge.many(pairs)}
    assert [
        (Verdict.ACCEPTED, None),
        (Verdict.WRONG_ANSWER, Fault.AUTHOR),
        (Verdict.TIME_LIMIT, Fault.AUTHOR),
        (Verdict.RUNTIME_ERROR, Fault.AUTHOR),
        (Verdict.COMPILE_ERROR, Fault.AUTHOR),
    ] == [(reports[number].verdict, reports[number].fault) for number in range(len(sources))]
    assert "elements are off" in reports[1].tests[0].message


@pytest.mark.exhaustive
async def test_its_devices_are_those_of_the_nodes(judge: Judge, sums: Path) -> None:
    with pytest.raises(UserError, match="There is no device 'B200'") as refused:
        await judge.judge(sums, RIGHT, device="B200")
    assert "There is: CPU, H100." == refused.value.hint


@pytest.mark.exhaustive
async def test_a_cancelled_task_ends_its_judging(
    judge: Judge, cluster: RayCluster, patient: Path
) -> None:
    task = asyncio.create_task(judge.judge(patient, ENDLESS))
    await until(lambda: busy(cluster), 120)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await until(lambda: not busy(cluster))
    assert Verdict.ACCEPTED == (await judge.judge(patient, RIGHT)).verdict


async def lose_node(cluster: RayCluster) -> None:
    """Kill the node that judges, once it does; another one is there then."""
    await until(lambda: busy(cluster), 240)
    judging = cluster.newest
    await asyncio.to_thread(add_node, cluster)
    await asyncio.to_thread(cluster.kill, judging)
    await until(lambda: not busy(cluster))


def lost(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.message.partition(" (")[0] for record in caplog.records]


@pytest.mark.exhaustive
async def test_a_node_that_is_lost_loses_one_attempt_and_that_is_said(
    judge: Judge, cluster: RayCluster, patient: Path, caplog: pytest.LogCaptureFixture
) -> None:
    task = asyncio.create_task(judge.judge(patient, SLOW))
    await lose_node(cluster)
    assert Verdict.ACCEPTED == (await task).verdict
    assert ["A job was lost: Ray lost it"] == lost(caplog)


@pytest.mark.exhaustive
async def test_a_source_whose_node_is_lost_again_loses_its_report(
    judge: Judge, cluster: RayCluster, patient: Path
) -> None:
    task = asyncio.create_task(judge.judge(patient, ENDLESS))
    for _ in range(2):
        await lose_node(cluster)
    report = await task
    assert (Verdict.INTERNAL_ERROR, Fault.PLATFORM, None) == (
        report.verdict,
        report.fault,
        report.reward("correct"),
    )
    assert "This result was lost, twice: Ray lost it" in report.message


@pytest.mark.exhaustive
async def test_a_cluster_that_cannot_be_reached_is_said(home: Path, cluster: RayCluster) -> None:
    with pytest.raises(Unavailable, match=r"Nothing can be judged at ray://127\.0\.0\.1:1: Ray"):
        async with Judge("ray://127.0.0.1:1"):
            pass


@pytest.mark.parametrize("address", ["ray://head", "ray://:1", "ray://a b:1", "ray://[::1]:1"])
async def test_what_is_no_clusters_address_is_refused(home: Path, address: str) -> None:
    with pytest.raises(UserError, match="is no address of a Ray cluster"):
        async with Judge(address):
            pass


async def test_a_cluster_and_a_device_are_not_mixed(home: Path) -> None:
    with pytest.raises(UserError, match="one cluster, or devices of this machine"):
        async with Judge(["CPU", "ray://head:10001"]):
            pass
