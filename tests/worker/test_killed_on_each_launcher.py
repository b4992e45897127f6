"""A worker is killed while its jobs are on a scheduler; another takes them over."""

from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from kernelbot.protocol import Mode, Verdict
from tests.launchers.stages import STAGES, Stage
from tests.support.exhaustive import cases
from tests.support.plan_worker import plan_worker
from tests.support.waiting import until
from tests.support.workers import finished
from tests.support.world import World

JOBS = 4


@pytest.fixture(params=cases([name for name in STAGES if name != "local"], always=["modal"]))
async def stage(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Stage]:
    async with STAGES[request.param](tmp_path, request) as opened:
        yield opened


@pytest.mark.exhaustive  # each run has test_a_worker_killed_at_a_gate (test_durability.py)
async def test_no_job_is_lost_or_judged_twice(world: World, stage: Stage, tmp_path: Path) -> None:
    await world.board()
    text = b"# fake: sleep 1 accepted\n"
    sent = [(await world.submit(content=text, mode=Mode.TEST)).id for _ in range(JOBS)]
    url, folder = world.database.url, tmp_path / "worker"
    with plan_worker(stage.plan, url, folder, JOBS) as worker:
        await until(stage.judged, 60)
        worker.kill()
    with plan_worker(stage.plan, url, folder, JOBS):
        shown = [await finished(world, each, 100) for each in sent]
    assert [(Verdict.ACCEPTED, 1)] * JOBS == [(s.verdict, s.runs[0].attempts) for s in shown]
    assert [1] * JOBS == list(Counter(stage.judged()).values())
