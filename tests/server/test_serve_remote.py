"""`kernelbot serve` with devices on GitHub Actions and on Buildkite, and its worker killed in the
middle."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from scripts.local_server import LocalServer

from kernelbot.client import KernelbotClient
from kernelbot.harness.archive import build
from kernelbot.protocol import EventKind, Mode
from tests.fakes import buildkite as buildkites
from tests.fakes import github as githubs
from tests.fakes.buildkite import FakeBuildkite, fake_buildkite
from tests.fakes.github import FakeGithub, fake_github
from tests.server.test_serve import _child, _until
from tests.support.problems import sort_problem

pytestmark = [
    pytest.mark.exhaustive,  # test_serve.py has a server at each run
    pytest.mark.timeout(300),  # half a minute of sleep, and of a processor, which others may share
]

CONFIG = """\
public_url = "{public}"

[launchers.actions]
kind = "github"
repo = "{repo}"
api_url = "{github}"
shortest_poll_s = 0.1
longest_poll_s = 0.3
check_s = 1

[launchers.actions.devices.GITHUB]
label = "cpu-runner"
workflow = "kernelbot-nvidia.yml"

[launchers.agents]
kind = "buildkite"
organization = "{organization}"
pipeline = "{pipeline}"
upload_queue = "uploads"
api_url = "{buildkite}"
shortest_poll_s = 0.1
longest_poll_s = 0.3
check_s = 1

[launchers.agents.devices.BUILDKITE]
queues = ["nvidia-h100-0", "nvidia-h100-1"]

[[devices]]
name = "GITHUB"
launcher = "actions"

[[devices]]
name = "BUILDKITE"
launcher = "agents"

[worker]
heartbeat_s = 0.2
stale_s = 2
sweep_s = 0.2
grace_s = 0.5
"""
SLOW = b"""\
import time
import numpy as np

time.sleep(25)

def custom_kernel(data):
    return np.sort(data)
"""
"""So long that both nodes are at it at the same time, whenever each has begun."""
DEVICES = ["GITHUB", "BUILDKITE"]


@pytest.fixture
def github(tmp_path: Path) -> Iterator[FakeGithub]:
    with fake_github(tmp_path / "runners") as github:
        yield github
        assert github.storage.leaked == []


@pytest.fixture
def buildkite(tmp_path: Path) -> Iterator[FakeBuildkite]:
    if os.geteuid() != 0:
        pytest.skip("an ordinary user can't make a /dev for the agents")
    harness = build(tmp_path / "kernelbot-harness.pyz")
    with fake_buildkite(tmp_path / "agents", harness) as buildkite:
        yield buildkite
        assert buildkite.storage.leaked == []


@pytest.fixture
def server(
    tmp_path: Path, github: FakeGithub, buildkite: FakeBuildkite, monkeypatch: pytest.MonkeyPatch
) -> Iterator[LocalServer]:
    """Started, with a board; nodes can reach it."""
    monkeypatch.setenv("GITHUB_TOKEN", githubs.TOKEN)
    monkeypatch.setenv("BUILDKITE_API_TOKEN", buildkites.TOKEN)
    config = tmp_path / "kernelbot.toml"
    server = LocalServer(tmp_path / "server", config=config)
    config.write_text(
        CONFIG.format(
            public=server.url,
            repo=githubs.REPO,
            github=github.url,
            organization=buildkites.ORGANIZATION,
            pipeline=buildkites.PIPELINE,
            buildkite=buildkite.url,
        )
    )
    with server, KernelbotClient.to(server.own_endpoint()) as client:
        client.create_board(sort_problem(), name="sort", devices=DEVICES)
        yield server


def test_jobs_outlive_the_worker_that_launched_them(
    server: LocalServer, github: FakeGithub, buildkite: FakeBuildkite
) -> None:
    with KernelbotClient.to(server.own_endpoint()) as client:
        submitted = client.submit("a.py", SLOW, board="sort", mode=Mode.TEST, devices=DEVICES)

        def states() -> set[str]:
            return {run.state for run in client.submission(submitted.id).runs}

        _until(lambda: states() == {"running"})
        os.kill(_child(server.pid, "kernelbot.server.work"), signal.SIGKILL)
        _until(lambda: states() == {"finished"})
        runs = client.submission(submitted.id).runs
        told = [(event.device, event.kind) for event in client.events(submitted.id)]
    assert [(run.verdict, run.attempts) for run in runs] == [("accepted", 1)] * 2
    # Both nodes have told of each test themselves, while there was a worker and while there wasn't.
    cases = [told.count((device, EventKind.CASE)) for device in DEVICES]
    assert cases == [len(sort_problem().spec.tests)] * 2
    assert github.asked("POST", "/dispatches") == buildkite.asked("POST", "/builds") == 1
    # What was kept of them is deleted, after the results are stored.
    _until(lambda: (github.actions.runs, buildkite.builds[0].artifacts) == ({}, []))
