"""An attempt that was dispatched twice, because its first run showed later than anybody waits."""

import math
from pathlib import Path

import pytest

from kernelbot.domain.errors import SchedulerError
from kernelbot.launchers.base import JobState
from tests.fakes.serving import Response
from tests.launchers.github.places import place, result_zip
from tests.launchers.stages import a_job
from tests.support.waiting import until


@pytest.mark.parametrize("fails", [False, True])
async def test_the_run_that_shows_late_is_ended_and_deleted(tmp_path: Path, fails: bool) -> None:
    job, failing = a_job("accepted"), [Response(502, b"<html>")] * fails
    async with place(tmp_path, appear_s=0, settle_s=0) as here:
        here.launcher._left_over._first_pause_s = 0.01
        here.github.dispatches_fail = ["after"]
        here.github.actions.late_s = math.inf
        with pytest.raises(SchedulerError, match="502"):
            await here.launcher.launch(job)
        late, here.github.actions.late_s = here.runs[0], 0.0
        handle = await here.launcher.launch(job)
        before = (await here.poll(handle)).state
        late.shown_at = 0.0
        here.github.wrong = lambda r: failing.pop() if failing and "/cancel" in r.path else None
        for _ in range(2 + fails):
            after = (await here.poll(handle)).state
        await until(lambda: late not in here.runs)
        (run,) = here.runs
        here.github.actions.end(run, "success", result_zip(job))
        found = await here.over(handle)
    assert (JobState.WAITING, JobState.WAITING, JobState.FINISHED) == (before, after, found.state)
    assert f"{run.number}:{job.job_id}" == handle
