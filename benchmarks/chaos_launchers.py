"""The launchers that `chaos.py` sends submissions through, each with a scheduler of its own."""

import contextlib
import secrets
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path

from scripts.slurm_cluster import slurm_cluster
from tests.fakes.buildkite import ORGANIZATION, PIPELINE, TOKEN, fake_buildkite

from kernelbot.harness.archive import build

NAMES = ("local", "slurm", "slurm-warm", "buildkite")
_NODE = "KERNELBOT_CHAOS_NODE"
_LOCAL = """
[[devices]]
name = "CPU"
"""
_SLURM = """
[[devices]]
name = "{device}"
launcher = "{name}"
slots = 2
[launchers.{name}]
kind = "slurm"
work_dir = "{work}"
python = "{python}"
slack_s = {slack_s}
settle_s = {settle_s}
longest_poll_s = {poll_s}
check_s = {poll_s}
warm_idle_s = {warm_idle_s}
[launchers.{name}.devices.{device}]
options = ["--export=ALL,{marker}"]
"""
_BUILDKITE = """
[[devices]]
name = "BUILDKITE"
launcher = "agents"
slots = 2
[launchers.agents]
kind = "buildkite"
organization = "{organization}"
pipeline = "{pipeline}"
api_url = "{url}"
settle_s = {settle_s}
check_s = {poll_s}
[launchers.agents.devices.BUILDKITE]
queues = ["cpu-node-0", "cpu-node-1"]
"""
_QUEUES = ("cpu-node-0", "cpu-node-1")


@dataclass(frozen=True)
class Place:
    """A launcher, while its scheduler runs."""

    name: str
    device: str
    config: str
    """Tables of `kernelbot.toml`."""
    marker: str | None = None
    """`NAME=value`, in the environment of its jobs on nodes; None: the server's own processes
    judge."""
    variables: Mapping[str, str] = field(default_factory=dict)
    """What the server needs in its environment."""


@contextlib.contextmanager
def opened(names: Sequence[str], folder: Path, slow: float = 1.0) -> Iterator[list[Place]]:
    """The launchers of these names, of `NAMES`, while the block runs. Slurm and the agents of
    Buildkite have to be started as root. `slow`: what their pauses are multiplied by."""
    makers: dict[str, Callable[[Path, float], AbstractContextManager[Place]]] = {
        "local": _local,
        "slurm": _slurm,
        "slurm-warm": lambda folder, slow: _slurm(folder, slow, "WARM", 600 * slow),
        "buildkite": _buildkite,
    }
    with contextlib.ExitStack() as stack:
        yield [stack.enter_context(makers[name](folder / name, slow)) for name in names]


@contextlib.contextmanager
def _local(_folder: Path, _slow: float) -> Iterator[Place]:
    yield Place("local", "CPU", _LOCAL)


@contextlib.contextmanager
def _slurm(
    folder: Path, slow: float, device: str = "SLURM", warm_idle_s: float = 0
) -> Iterator[Place]:
    marker = f"{_NODE}={secrets.token_hex(8)}"
    config = _SLURM.format(
        name=folder.name,
        work=folder,
        python=sys.executable,
        marker=marker,
        device=device,
        warm_idle_s=warm_idle_s,
        slack_s=60 * slow,
        settle_s=5 * slow,
        poll_s=slow,
    )
    with slurm_cluster() as cluster:
        variables = {"SLURM_CONF": cluster.environment["SLURM_CONF"]}
        yield Place(folder.name, device, config, marker, variables)


@contextlib.contextmanager
def _buildkite(folder: Path, slow: float) -> Iterator[Place]:
    harness = build(folder.with_name("kernelbot-harness.pyz"))
    with fake_buildkite(folder, harness, queues=_QUEUES) as buildkite:
        config = _BUILDKITE.format(
            organization=ORGANIZATION,
            pipeline=PIPELINE,
            url=buildkite.url,
            settle_s=2 * slow,
            poll_s=slow,
        )
        # The agents give it to every step and container.
        marker = f"FAKE_JUDGED_LOG={folder / 'judged.log'}"
        yield Place("buildkite", "BUILDKITE", config, marker, {"BUILDKITE_API_TOKEN": TOKEN})
