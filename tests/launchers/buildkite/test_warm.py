"""What becomes of an agent's container that stays for its next job."""

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from kernelbot.harness.archive import build
from kernelbot.launchers.base import JobState
from kernelbot.protocol import Verdict
from tests.fakes.buildkite import FakeBuildkite, fake_buildkite
from tests.launchers.test_contract import over
from tests.launchers.warm_stages import ENDLESS, WarmStage, a_job, buildkite_stage_of
from tests.support.homes import processes_of_home

QUEUE = "nvidia-h100-0"


@pytest.fixture(scope="module")
def harness(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("harness") / "kernelbot-harness.pyz")


@pytest.fixture
async def agents(
    tmp_path: Path, harness: Path
) -> AsyncIterator[tuple[FakeBuildkite, WarmStage, Path]]:
    """With the folder of the only agent's container."""
    if os.geteuid() != 0:
        pytest.skip("an ordinary user can't make a /dev for the agents")
    with fake_buildkite(tmp_path / "agents", harness, queues=(QUEUE,)) as buildkite:
        async with buildkite_stage_of(buildkite, harness, 120.0) as stage:
            yield buildkite, stage, buildkite.agents.container(QUEUE)


Agents = tuple[FakeBuildkite, WarmStage, Path]


@pytest.mark.exhaustive
async def test_a_killed_job_takes_its_container_along_when_the_next_one_comes(
    agents: Agents,
) -> None:
    buildkite, stage, container = agents
    handle = await stage.begun(a_job(ENDLESS))
    before = set(processes_of_home(container))
    buildkite.agents.kill(QUEUE)
    outcome = await over(stage.launcher, handle)
    left = before & set(processes_of_home(container))
    following = await stage.judged(a_job())
    assert (JobState.LOST, Verdict.ACCEPTED) == (outcome.state, following.verdict)
    assert left  # Docker's client ends with the job, and what it has started doesn't
    assert set() == before & set(processes_of_home(container))


@pytest.mark.exhaustive
async def test_another_image_has_another_container(agents: Agents) -> None:
    buildkite, stage, container = agents
    await stage.judged(a_job())
    before = set(processes_of_home(container))
    buildkite.agents.image.write_text("sha256:4567 jobs-in-turn\n")
    await stage.judged(a_job())
    assert before
    assert set() == before & set(processes_of_home(container))
