from pathlib import Path

import pytest

from kernelbot.domain.errors import UserError
from kernelbot.harness.archive import build
from kernelbot.launchers.slurm import SlurmSettings
from kernelbot.launchers.slurm.table import SlurmTable
from kernelbot.launchers.table import LauncherPlace
from kernelbot.protocol import SandboxMode


def settings(sandbox: SandboxMode, **given: float) -> SlurmSettings:
    table = SlurmTable.model_validate({"kind": "slurm", "work_dir": "/scratch/kernelbot", **given})
    return table.settings(LauncherPlace("cluster", (), Path("x"), sandbox, build))


def test_each_job_has_a_node_of_its_own_unless_something_else_is_said() -> None:
    assert settings(SandboxMode.REQUIRED).warm_idle_s == 0


def test_nodes_that_judge_in_turn_are_told_how_long() -> None:
    made = settings(SandboxMode.REQUIRED, warm_idle_s=120, warm_limit_s=7200)
    assert (made.warm_idle_s, made.warm_limit_s) == (120, 7200)


def test_without_a_sandbox_no_node_judges_in_turn() -> None:
    with pytest.raises(UserError, match=r"cluster\.warm_idle_s: without a sandbox"):
        settings(SandboxMode.NONE, warm_idle_s=120)
