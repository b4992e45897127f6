"""`kernelbot serve` with a device on a Slurm cluster, and its worker killed in the middle."""

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from scripts.local_server import LocalServer
from scripts.slurm_cluster import SlurmCluster

from kernelbot.client import KernelbotClient
from kernelbot.protocol import Mode
from tests.server.test_serve import _child, _until
from tests.support.problems import sort_problem

pytestmark = pytest.mark.exhaustive  # test_serve.py has a server at each run

CONFIG = """\
[launchers.cluster]
kind = "slurm"
work_dir = "{work}"
python = "{python}"
check_s = 1
warm_idle_s = {warm_idle_s}

[[devices]]
name = "CPU"
launcher = "cluster"
slots = 4

[worker]
heartbeat_s = 0.2
stale_s = 2
sweep_s = 0.2
grace_s = 0.5
"""
SLOW = b"""\
import time
import numpy as np

time.sleep(6)

def custom_kernel(data):
    return np.sort(data)
"""


@pytest.fixture(params=[0, 600], ids=["a node for each job", "warm nodes"])
def server(
    tmp_path: Path, slurm: SlurmCluster, request: pytest.FixtureRequest
) -> Iterator[LocalServer]:
    """Started, with a board."""
    config = tmp_path / "kernelbot.toml"
    work = tmp_path / "work"
    config.write_text(CONFIG.format(work=work, python=sys.executable, warm_idle_s=request.param))
    with (
        slurm.reached(),
        LocalServer(tmp_path / "server", config=config) as server,
        KernelbotClient.to(server.own_endpoint()) as client,
    ):
        client.create_board(sort_problem(), name="sort")
        yield server
    slurm.cancel_all()


def test_a_job_outlives_the_worker_that_launched_it(
    server: LocalServer, slurm: SlurmCluster, tmp_path: Path
) -> None:
    with KernelbotClient.to(server.own_endpoint()) as client:
        submitted = client.submit("slow.py", SLOW, board="sort", mode=Mode.TEST)
        _until(lambda: client.submission(submitted.id).state == "running")
        os.kill(_child(server.pid, "kernelbot.server.work"), signal.SIGKILL)
        _until(lambda: client.submission(submitted.id).state == "finished")
        shown = client.submission(submitted.id)
        folders = slurm.run("squeue", "--noheader", "--states=all", "--format=%Z").stdout
    assert (shown.verdict, shown.runs[0].attempts) == ("accepted", 1)
    assert folders.split().count(str(tmp_path / "work")) == 1
