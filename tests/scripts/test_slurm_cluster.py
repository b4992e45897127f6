from pathlib import Path

import pytest
from scripts.slurm_cluster import lacks_systemd

SECOND, SYSTEMD = "sys/fs/cgroup/cgroup.controllers", "run/systemd/system/x"
MACHINES = {
    "control groups of version 1": ((), False),
    "version 2, with systemd": (
        ("sys/fs/cgroup/cgroup.controllers", "run/systemd/system/x"),
        False,
    ),
    "version 2, without systemd": ((SECOND,), True),
}


@pytest.mark.parametrize(("files", "expected"), MACHINES.values(), ids=list(MACHINES))
def test_slurm_is_told_of_a_machine_without_systemd(
    tmp_path: Path, files: tuple[str, ...], expected: bool
) -> None:
    for file in files:
        (tmp_path / file).parent.mkdir(parents=True)
        (tmp_path / file).touch()
    assert expected == lacks_systemd(tmp_path)
