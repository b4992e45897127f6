"""`kernelbot serve` whose runs and build steps go to a Slurm cluster; the compiler is real."""

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from scripts.local_server import LocalServer
from scripts.slurm_cluster import SlurmCluster

from kernelbot.catalog.problem import load_problem
from kernelbot.client import KernelbotClient
from kernelbot.protocol import Mode
from kernelbot.runs.model import RunView
from tests.server.test_serve import _child, _until
from tests.support.workers import ROOT

pytestmark = pytest.mark.exhaustive  # test_serve.py has a server at each run

EXAMPLE = ROOT / "examples" / "vectoradd_cpp"
SOURCE = (EXAMPLE / "submission.cpp").read_bytes()
SLOW = b"#include <regex>\n" + b"".join(
    b'static std::regex each%d("x");\n' % number for number in range(4)
)
CONFIG = """\
[launchers.cluster]
kind = "slurm"
work_dir = "{work}"
python = "{python}"
check_s = 1

[[devices]]
name = "CPU"
launcher = "cluster"
slots = 4
builds_on = "Builder"

[[devices]]
name = "Builder"
launcher = "cluster"
slots = 2

[worker]
heartbeat_s = 0.2
stale_s = 2
sweep_s = 0.2
grace_s = 0.5

[review]
known_right = false
"""


@pytest.fixture
def server(tmp_path: Path, slurm: SlurmCluster) -> Iterator[LocalServer]:
    """Started, with a board."""
    config = tmp_path / "kernelbot.toml"
    config.write_text(CONFIG.format(work=tmp_path / "work", python=sys.executable))
    with (
        slurm.reached(),
        LocalServer(tmp_path / "server", config=config) as server,
        KernelbotClient.to(server.own_endpoint()) as client,
    ):
        client.create_board(load_problem(EXAMPLE).definition, name="add", devices=("CPU",))
        yield server
    slurm.cancel_all()


def jobs(slurm: SlurmCluster, folder: Path) -> list[str]:
    """The names of this server's jobs at Slurm."""
    shown = slurm.run("squeue", "--noheader", "--states=all", "--format=%Z %j").stdout.split("\n")
    return [line.split()[1] for line in shown if line.startswith(str(folder / "work"))]


def is_build_step(name: str) -> bool:
    return name.rsplit(".", 1)[-1] == "b0"


@pytest.mark.long
def test_a_build_outlives_the_worker_that_had_it_made(
    server: LocalServer, slurm: SlurmCluster, tmp_path: Path
) -> None:
    """And serves whoever sends the same source."""
    with KernelbotClient.to(server.own_endpoint()) as client:

        def submit() -> int:
            return client.submit("a.cpp", SLOW + SOURCE, board="add", mode=Mode.TEST).id

        def run_of(submission: int) -> RunView:
            _until(lambda: client.submission(submission).state == "finished")
            return client.submission(submission).runs[0]

        first = submit()
        _until(lambda: bool(jobs(slurm, tmp_path)))
        os.kill(_child(server.pid, "kernelbot.server.work"), signal.SIGKILL)
        runs = [run_of(first), run_of(submit())]
    names = jobs(slurm, tmp_path)
    assert [("accepted", 1)] * 2 == [(run.verdict, run.attempts) for run in runs]
    assert (1, 3) == (len(list(filter(is_build_step, names))), len(names))
    results = [run.result for run in runs if run.result is not None]
    assert [True, True] == [one.compile is not None and one.compile.cached for one in results]
    assert [True, True] == ["build" in one.timings for one in results]


def test_what_does_not_compile_is_no_job_of_the_device(
    server: LocalServer, slurm: SlurmCluster, tmp_path: Path
) -> None:
    with KernelbotClient.to(server.own_endpoint()) as client:
        submitted = client.submit("a.cpp", b"int x = ;", board="add", mode=Mode.LEADERBOARD)
        _until(lambda: client.submission(submitted.id).state == "finished")
        shown = client.submission(submitted.id)
    assert "compile_error" == shown.verdict
    assert "error" in (shown.runs[0].message or "")
    assert [True] == [is_build_step(name) for name in jobs(slurm, tmp_path)]
