"""An episode whose sources are judged by a real Ray cluster's nodes."""

import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.environment.conftest import served
from tests.library.sources import RIGHT, WRONG
from tests.support.ray_cluster import RayCluster, ray_cluster
from tests.support.warm import busy_below

SLOW = RIGHT.replace(
    "    return", "    import time\n    while time.process_time() < 5: pass\n    return"
)


pytestmark = [
    pytest.mark.exhaustive,
    pytest.mark.timeout(900),  # seconds of a processor, which others may share
]


@pytest.fixture(scope="module")
def cluster() -> Iterator[RayCluster]:
    with ray_cluster(for_clients=True) as found:
        found.add(num_cpus=2)
        yield found


def test_an_episode_is_judged_by_the_clusters_nodes(
    home: Path, patient: Path, cluster: RayCluster
) -> None:
    how = ("--device", "CPU", "--reward", "tests", "--held-out", "nothing", "--pay", "each")
    begun = served(str(patient), "--cluster", cluster.client_address, *how)
    with ThreadPoolExecutor(1) as threads, begun as server, server.talk() as talk:
        talk.reset()
        wrong = talk.step(WRONG)
        step = threads.submit(talk.step, SLOW)
        busy = False
        while not step.done():
            busy = busy or bool(busy_below(cluster.process.pid))
        right = step.result()
    assert (0.0, 1.0, True) == (wrong["reward"], right["reward"], busy)


def test_a_device_that_no_node_has_is_refused_before_anything_is_served(
    home: Path, patient: Path, cluster: RayCluster
) -> None:
    where = ("--cluster", cluster.client_address, "--device", "H100", "--port", "0")
    command = [sys.executable, "-m", "kernelbot", "env", "serve", str(patient), *where]
    ended = subprocess.run([*command, "--reward", "tests"], capture_output=True, text=True)
    assert 2 == ended.returncode, ended.stderr
    assert "There is no device 'H100' here." in ended.stderr
    assert "There is: CPU." in ended.stderr
