"""`kernelbot serve` with a device on GitHub Actions, and its worker killed in the middle."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from scripts.local_server import LocalServer

from kernelbot.client import KernelbotClient
from kernelbot.protocol import Mode
from tests.fakes.github import REPO, TOKEN, FakeGithub, fake_github
from tests.main.test_serve import _child, _until
from tests.support.problems import sort_problem

CONFIG = """\
[launchers.actions]
kind = "github"
repo = "{repo}"
api_url = "{url}"
shortest_poll_s = 0.1
longest_poll_s = 0.3
check_s = 1

[launchers.actions.devices.CPU]
label = "cpu-runner"
workflow = "kernelbot-nvidia.yml"

[[devices]]
name = "CPU"
launcher = "actions"
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

time.sleep(3)

def custom_kernel(data):
    return np.sort(data)
"""


@pytest.fixture
def github(tmp_path: Path) -> Iterator[FakeGithub]:
    with fake_github(tmp_path / "runners") as github:
        yield github
        assert github.storage.leaked == []


@pytest.fixture
def server(
    tmp_path: Path, github: FakeGithub, monkeypatch: pytest.MonkeyPatch
) -> Iterator[LocalServer]:
    """Started, with a board."""
    monkeypatch.setenv("GITHUB_TOKEN", TOKEN)
    config = tmp_path / "kernelbot.toml"
    config.write_text(CONFIG.format(repo=REPO, url=github.url))
    with (
        LocalServer(tmp_path / "server", config=config) as server,
        KernelbotClient.to(server.own_endpoint()) as client,
    ):
        client.create_board(sort_problem(), name="sort")
        yield server


def test_a_job_outlives_the_worker_that_launched_it(
    server: LocalServer, github: FakeGithub
) -> None:
    with KernelbotClient.to(server.own_endpoint()) as client:
        submitted = client.submit("slow.py", SLOW, board="sort", mode=Mode.TEST)
        _until(lambda: client.submission(submitted.id).state == "running")
        os.kill(_child(server.pid, "kernelbot.main.work"), signal.SIGKILL)
        _until(lambda: client.submission(submitted.id).state == "finished")
        shown = client.submission(submitted.id)
    assert (shown.verdict, shown.runs[0].attempts) == ("accepted", 1)
    assert github.asked("POST", "/dispatches") == 1
    assert github.actions.runs == {}  # what was kept of it is deleted
