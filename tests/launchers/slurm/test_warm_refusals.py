"""What Slurm refuses of one job that waits for a warm node, while others wait for theirs. Slurm's
commands are played by a script; the work folder is real."""

from pathlib import Path

import pytest

from kernelbot.domain.errors import JobRefused
from kernelbot.launchers.base import JobState, Outcome
from kernelbot.launchers.handles import Handle
from kernelbot.launchers.slurm import SlurmDevice, SlurmSettings
from kernelbot.launchers.slurm.commands import SlurmCommands
from kernelbot.launchers.slurm.shared_folder import Offered
from kernelbot.launchers.slurm.states import SlurmJob
from kernelbot.launchers.slurm.warm import NUMBER, WarmNodes
from kernelbot.launchers.slurm.warm_script import needs_of
from kernelbot.protocol import Fault
from tests.launchers.slurm.test_bad_answers import FAILED, between
from tests.launchers.stages import a_job

SHORT_S, LONG_S = 300, 7200
REFUSES_LONG = """case "$*" in
    *--time=125*) echo '{failed}Requested time limit is invalid' >&2; exit 1;;
    *) echo "$*" >> {log}; echo 7;;
esac"""
HARNESS = "harness/x.pyz"


class Folder:
    """A work folder with its warm nodes, of which none ever comes."""

    def __init__(self, path: Path) -> None:
        for name in ("waiting", "jobs", "done", "cancels", "nodes"):
            (path / "work" / name).mkdir(parents=True)
        self.path = path / "work"
        self.log = path / "submitted"
        self.device = SlurmDevice(None)
        self.settings = SlurmSettings(
            str(self.path), {"CPU": self.device}, warm_idle_s=60.0, warm_limit_s=600.0
        )
        prefix = between(path, "sbatch", REFUSES_LONG.format(failed=FAILED, log=self.log))
        self.warm = WarmNodes(self.settings, SlurmCommands(prefix, 60.0), self._queue)
        self.warm.know(HARNESS)
        self.needs = needs_of(self.device, self.settings, HARNESS)

    async def _queue(self) -> dict[str, SlurmJob]:
        return {}

    def offer(self, limit_s: int, attempt: str) -> None:
        """As a worker of before did."""
        (self.path / "waiting" / Offered(self.needs, limit_s, attempt).name).mkdir()

    async def outcome(self, attempt: str) -> Outcome | None:
        return self.warm.outcome(Handle(NUMBER, attempt), await self.warm.places(), {}, None)

    @property
    def submitted(self) -> int:
        return len(self.log.read_text().splitlines()) if self.log.exists() else 0


REFUSED = Outcome(
    JobState.LOST,
    reason="Slurm refused the job: Requested time limit is invalid",
    fault=Fault.SCHEDULER,
)


async def test_a_launch_is_not_refused_for_anothers_time_limit(tmp_path: Path) -> None:
    folder, job = Folder(tmp_path), a_job("accepted")
    folder.offer(LONG_S, "9.1.long")
    assert await folder.warm.launch(job, folder.device, SHORT_S)
    assert REFUSED == await folder.outcome("9.1.long")
    assert Outcome(JobState.WAITING) == await folder.outcome(job.job_id)
    assert 1 == folder.submitted


async def test_whose_time_limit_is_refused_waits_in_vain_alone(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    folder.offer(SHORT_S, "8.1.short")
    folder.offer(LONG_S, "9.1.long")
    await folder.warm.see_to(await folder.warm.places(), {})
    assert REFUSED == await folder.outcome("9.1.long")
    assert Outcome(JobState.WAITING) == await folder.outcome("8.1.short")
    assert 1 == folder.submitted


async def test_a_launch_is_refused_for_its_own(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    folder.offer(SHORT_S, "8.1.short")
    with pytest.raises(JobRefused, match="time limit is invalid"):
        await folder.warm.launch(a_job("accepted"), folder.device, LONG_S)
    assert Outcome(JobState.WAITING) == await folder.outcome("8.1.short")
