"""A launcher with a GitHub, for tests of what only GitHub does."""

import contextlib
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kernelbot.launchers.github import GithubLauncher
from kernelbot.protocol import JobSpec, to_wire
from tests.fakes.github import FakeGithub, fake_github
from tests.fakes.github.actions import FakeRun
from tests.fakes.host import result_of, words_of
from tests.fakes.links import FakeLinks, fake_links
from tests.launchers.rest.polled import Polled
from tests.launchers.stages import github_launcher, github_settings
from tests.support.fake_node import build_fake_node
from tests.support.zips import zipped


@dataclass
class Place(Polled):
    """Everything that takes part."""

    github: FakeGithub
    launcher: GithubLauncher
    links: FakeLinks | None = None

    @property
    def runs(self) -> list[FakeRun]:
        return list(self.github.actions.runs.values())


@contextlib.asynccontextmanager
async def place(folder: Path, *, runners: int = 0, **changes: Any) -> AsyncIterator[Place]:
    """Without runners, jobs wait until a test ends them, and no node is needed."""
    with contextlib.ExitStack() as stack:
        github = stack.enter_context(fake_github(folder / "runners", runners=runners))
        links = None
        if runners:
            node = build_fake_node(folder / "node.pyz")
            links = stack.enter_context(fake_links(node))
        async with github_launcher(github_settings(github, **changes), links) as launcher:
            yield Place(github, launcher, links)
        assert github.storage.leaked == []


def result_zip(job: JobSpec, **changes: Any) -> bytes:
    """What a run of the job uploads."""
    document = {**to_wire(result_of(job, words_of(job))), **changes}
    return zipped(("result.json", json.dumps(document).encode()))
