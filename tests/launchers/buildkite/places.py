"""A launcher with a Buildkite, for tests of what only Buildkite does."""

import contextlib
import json
import os
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from kernelbot.launchers.buildkite import BuildkiteLauncher
from kernelbot.protocol import JobSpec, to_wire
from tests.fakes.buildkite import FakeBuildkite, fake_buildkite
from tests.fakes.buildkite.agents import FakeBuild
from tests.fakes.host import result_of, words_of
from tests.fakes.links import FakeLinks, fake_links
from tests.launchers.rest.polled import Polled
from tests.launchers.stages import MANY, buildkite_launcher, buildkite_settings
from tests.support.fake_node import build_fake_node


@dataclass
class Place(Polled):
    """Everything that takes part."""

    buildkite: FakeBuildkite
    launcher: BuildkiteLauncher
    links: FakeLinks

    @property
    def builds(self) -> list[FakeBuild]:
        return self.buildkite.builds

    def end(self, state: str, content: bytes | None = None) -> None:
        """Of the first build."""
        self.buildkite.agents.end(self.builds[0], state, content)


@contextlib.asynccontextmanager
async def place(
    folder: Path,
    *,
    working: bool = False,
    linked: bool = False,
    limited: bool = False,
    **changes: Any,
) -> AsyncIterator[Place]:
    """Unless agents are working, jobs wait until a test ends them. `linked`: nodes can reach the
    platform. `limited`: Buildkite hasn't raised its limits."""
    if working and os.geteuid() != 0:
        pytest.skip("an ordinary user can't make a /dev for the agents")
    node = build_fake_node(folder / "node.pyz")
    with (
        fake_buildkite(folder / "agents", node, connected=working) as buildkite,
        fake_links(node) as links,
    ):
        if not limited:
            buildkite.limits.raise_to(MANY)
        settings = buildkite_settings(buildkite, **changes)
        async with buildkite_launcher(settings, links if linked else None) as launcher:
            yield Place(buildkite, launcher, links)
        assert buildkite.storage.leaked == []


def result_file(job: JobSpec, **changes: Any) -> bytes:
    """What a build of the job uploads."""
    return json.dumps({**to_wire(result_of(job, words_of(job))), **changes}).encode()
