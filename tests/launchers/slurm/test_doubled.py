"""An attempt that was submitted twice, because the answer to the first submission was lost."""

from dataclasses import replace
from pathlib import Path

import pytest
from scripts.slurm_cluster import SlurmCluster

from kernelbot.domain.errors import SchedulerError
from kernelbot.launchers.base import JobState
from kernelbot.launchers.handles import Handle
from kernelbot.launchers.slurm import SlurmDevice, SlurmLauncher
from kernelbot.launchers.slurm.seen import Seen
from kernelbot.launchers.slurm.shared_folder import OfferedJobs
from kernelbot.launchers.slurm.states import read_queue
from kernelbot.protocol import JobSpec
from tests.launchers.plans import DEVICE
from tests.launchers.slurm.test_bad_answers import broken
from tests.launchers.slurm.test_cluster import judged, launching, over, poll
from tests.launchers.stages import a_job
from tests.support.waiting import until, until_told

LOST = "echo 'Connection closed' >&2; exit 255"
BOTH = '"$@" > /dev/null'


async def launched_twice(
    launcher: SlurmLauncher, folder: Path, job: JobSpec, first: str = BOTH, *, held: bool = False
) -> str:
    """The handle of the second submission, made when the first has begun. `first`: what becomes of
    that one; `held`: the second doesn't begin."""
    await broken(launcher, folder, "sbatch", f"{first}; {LOST}")
    with pytest.raises(SchedulerError, match="Connection closed"):
        await launcher.launch(job)
    if first == BOTH:
        await until(lambda: job.job_id in judged(folder))
    if held:
        devices = {DEVICE: SlurmDevice(None, options=("--hold",))}
        launcher._settings = replace(launcher._settings, devices=devices)
    await broken(launcher, folder, "squeue", "exit 0")  # it doesn't show yet
    handle = await launcher.launch(job)
    await broken(launcher, folder, "nothing", "")
    return handle


async def test_the_one_that_judges_is_followed(tmp_path: Path) -> None:
    may_end = tmp_path / "may-end"
    job = a_job(f"until {may_end} accepted")
    async with launching(tmp_path, settle_s=0) as launcher:
        handle = await launched_twice(launcher, tmp_path, job)

        async def has_ended() -> bool:
            shown = await launcher._show(handle.partition(":")[0])
            return shown is not None and shown.active is None

        await until_told(has_ended)
        before = (await poll(launcher, handle)).state
        may_end.touch()
        after = (await over(launcher, handle)).state
    assert (JobState.RUNNING, JobState.FINISHED) == (before, after)
    assert [job.job_id] == judged(tmp_path)


@pytest.mark.parametrize(
    ("states", "number"),
    [
        (("COMPLETED", "RUNNING"), "2"),
        (("PENDING", "RUNNING"), "2"),
        (("RUNNING", "RUNNING"), "1"),
        (("COMPLETED", "PENDING"), "2"),
        (("COMPLETED", "NODE_FAIL"), "2"),
        (("COMPLETED", "FAILED"), "1"),
        ((), None),
    ],
)
def test_of_several_one_tells_how_the_attempt_is(
    states: tuple[str, ...], number: str | None
) -> None:
    lines = [f"{at}|{state}|None|kernelbot-1.1.a" for at, state in enumerate(states, 1)]
    seen = Seen(read_queue("\n".join(lines)), frozenset(), OfferedJobs())
    found = seen.job_of(Handle("1", "1.1.a"))
    assert number == (found and found.number)


@pytest.mark.exhaustive  # each run has test_the_one_that_judges_is_followed
@pytest.mark.parametrize("is_over", [True, False])
async def test_neither_stays_behind(tmp_path: Path, slurm: SlurmCluster, is_over: bool) -> None:
    job = a_job("accepted" if is_over else "sleep 600 accepted")
    async with launching(tmp_path) as launcher:
        handle = await launched_twice(launcher, tmp_path, job, held=True)
        if is_over:
            assert (await over(launcher, handle)).state is JobState.FINISHED
        else:
            assert (await poll(launcher, handle)).state is JobState.RUNNING
            await launcher.cancel(handle)
        await launcher.forget(handle)
        await until(lambda: job.job_id not in slurm.run("squeue", "--format=%j").stdout)
    assert [job.job_id] == judged(tmp_path)


@pytest.mark.exhaustive  # each run has test_the_one_that_judges_is_followed
async def test_one_that_comes_when_all_is_over_judges_nothing(
    tmp_path: Path, slurm: SlurmCluster
) -> None:
    job, kept = a_job("accepted"), tmp_path / "kept"
    async with launching(tmp_path) as launcher:
        first = f'printf "\'%s\' " "$@" > {kept}; cat > {kept}.script'
        handle = await launched_twice(launcher, tmp_path, job, first)
        assert (await over(launcher, handle)).state is JobState.FINISHED
        await launcher.forget(handle)
        late = slurm.run("bash", "-c", f"{kept.read_text()} --wait < {kept}.script")
    assert 0 == late.returncode, late.stderr
    assert [job.job_id] == judged(tmp_path)
