"""Control groups of runners that this process has asked for."""

import os
from pathlib import Path

import pytest

from kernelbot.harness.sandbox import cgroups, group_members


def runner_groups() -> set[Path]:
    """All that there are, in whichever hierarchies."""
    parents = set(cgroups.detect().parents.values())
    return {group for parent in parents for group in parent.glob(f"kernelbot-{os.getpid()}-*")}


def members_of(groups: set[Path]) -> list[int]:
    """The processes in them, each as often as there is a group of it."""
    return [pid for group in groups for pid in group_members.members(str(group))]


@pytest.fixture
def left_groups(monkeypatch: pytest.MonkeyPatch) -> set[Path]:
    """Those that earlier tests have left: a busy machine may take longer to end a process than its
    groups are waited for. Those of this test are waited for as long as that takes."""
    monkeypatch.setattr(cgroups, "_REMOVE_TIMEOUT_S", 60.0)
    return runner_groups()
