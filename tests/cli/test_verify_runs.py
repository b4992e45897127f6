from pathlib import Path

import pytest

from tests.support.terminal import Shell

CONFIG = """\
warm = []

[launchers.far]
kind = "slurm"
work_dir = "/nowhere/kernelbot"
prefix = ["/nowhere/ssh", "login01"]

[[devices]]
name = "CPU"

[[devices]]
name = "Far"
launcher = ["far", "local"]
"""


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    (tmp_path / "kernelbot.toml").write_text(CONFIG)
    return Shell(tmp_path, {})


@pytest.mark.exhaustive  # each run has test_a_device_that_isnt_there_is_bad_usage
def test_a_device_that_judges_is_told(shell: Shell) -> None:
    said = shell("verify-runs", "--device", "cpu")
    assert (said.code, said.out.startswith("✓ CPU by local: small-job was accepted")) == (0, True)


@pytest.mark.exhaustive
def test_every_launcher_of_every_device_is_tried(shell: Shell) -> None:
    said = shell("verify-runs", "--json")
    found = {(run["device"], run["launcher"]): run["ok"] for run in said.document["runs"]}
    assert found == {("CPU", "local"): True, ("Far", "local"): True, ("Far", "far"): False}
    assert (said.code, said.document["ok"]) == (1, False)


@pytest.mark.exhaustive
def test_why_one_failed_is_told(shell: Shell) -> None:
    said = shell("verify-runs", "--device", "Far")
    assert "✗ Far by far: sh can't be started" in said.out


@pytest.mark.exhaustive
def test_nothing_is_left_of_it(shell: Shell) -> None:
    shell("verify-runs", "--device", "CPU")
    assert not list(shell.home.rglob("jobs"))


def test_a_device_that_isnt_there_is_bad_usage(shell: Shell) -> None:
    said = shell("verify-runs", "--device", "a'; echo x")
    assert (said.code, "Devices: CPU, Far." in said.err) == (2, True)
