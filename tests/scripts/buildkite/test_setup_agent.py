"""One agent for one GPU: its files and units, and what isn't taken for a GPU or a queue."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.scripts.buildkite.conftest import SCRIPTS, TOKEN, Golden, Machine
from tests.support.nobody import open_folder

SETUP = "setup-agent.sh"
CFG = "/etc/buildkite-agent/agent-3/buildkite-agent.cfg"
UNIT = "/etc/systemd/system/buildkite-agent-gpu3.service"
SLICE = "/etc/systemd/system/buildkite-gpu3.slice"


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("setup-nvidia.txt", ["0", "nvidia-h100-0"]),
        ("setup-amd.txt", ["3", "amd-mi300-11", "64G", "32"]),
    ],
)
def test_a_dry_run_shows_every_file_and_command(
    machine: Machine, golden: Golden, name: str, arguments: list[str]
) -> None:
    before = machine.files()
    shown = machine.run(SETUP, "--dry-run", *arguments)
    assert (0, "") == (shown.returncode, shown.stderr)
    golden(name, shown.stdout)
    assert (before, []) == (machine.files(), machine.calls())
    assert TOKEN not in shown.stdout


def test_a_dry_run_needs_neither_root_nor_a_token() -> None:
    with open_folder() as folder:
        scripts = shutil.copytree(SCRIPTS, folder / "scripts")
        command = [str(scripts / SETUP), "--dry-run", "0", "nvidia-h100-0"]
        if os.geteuid() == 0:
            command = ["setpriv", "--reuid=60717", "--clear-groups", *command]
        shown = subprocess.run(command, capture_output=True, text=True, check=False, cwd="/")
    assert (0, "") == (shown.returncode, shown.stderr)


def test_the_files_are_those_that_a_dry_run_shows(machine: Machine) -> None:
    shown = machine.run(SETUP, "--dry-run", "3", "amd-mi300-11", "64G", "32").stdout
    done = machine.run(SETUP, "3", "amd-mi300-11", "64G", "32")
    assert (0, "") == (done.returncode, done.stderr)
    files = machine.files()
    assert {CFG: 0o600, UNIT: 0o644, SLICE: 0o644, "/etc/buildkite-agent/token": 0o600} == {
        path: mode for path, (mode, _) in files.items()
    }
    for path in (CFG, UNIT, SLICE):
        text = files[path][1].replace(TOKEN, "(what stands in /etc/buildkite-agent/token)")
        assert all(f"    {line}" in shown for line in text.splitlines() if line)


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="there is no systemd here")
def test_systemd_finds_nothing_wrong_with_the_units(machine: Machine, tmp_path: Path) -> None:
    machine.run(SETUP, "3", "amd-mi300-11")
    for path in (UNIT, SLICE):
        text = machine.files()[path][1].replace("/usr/bin/buildkite-agent", "/bin/true")
        (tmp_path / Path(path).name).write_text(text)
        command = ["systemd-analyze", "verify", "--man=no", str(tmp_path / Path(path).name)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert [] == [line for line in done.stderr.splitlines() if "buildkite" in line]


def test_the_token_is_in_the_configuration_and_nowhere_else(machine: Machine) -> None:
    done = machine.run(SETUP, "3", "amd-mi300-11")
    said = done.stdout + done.stderr + "".join(machine.calls())
    holding = [path for path, (_, text) in machine.files().items() if TOKEN in text]
    assert ([CFG, "/etc/buildkite-agent/token"], False) == (holding, TOKEN in said)


def test_the_agent_is_started(machine: Machine) -> None:
    machine.run(SETUP, "3", "amd-mi300-11")
    assert [
        "nvidia-smi --id=3 --query-gpu=name --format=csv,noheader",
        "usermod --append --groups docker buildkite-agent",
        "systemctl daemon-reload",
        "systemctl enable --quiet buildkite-agent-gpu3.service",
        "systemctl restart --no-block buildkite-agent-gpu3.service",
    ] == machine.calls()


def test_a_second_time_changes_nothing_and_restarts_nothing(machine: Machine) -> None:
    machine.run(SETUP, "3", "amd-mi300-11")
    files, calls = machine.files(), len(machine.calls())
    again = machine.run(SETUP, "3", "amd-mi300-11")
    assert (0, files) == (again.returncode, machine.files())
    assert "systemctl start --no-block buildkite-agent-gpu3.service" == machine.calls()[-1]
    assert not [line for line in machine.calls()[calls:] if "restart" in line]


def test_other_limits_replace_the_slice_alone(machine: Machine) -> None:
    machine.run(SETUP, "3", "amd-mi300-11")
    before = machine.files()
    machine.run(SETUP, "3", "amd-mi300-11", "48G", "8")
    after = machine.files()
    assert [SLICE] == [path for path in after if after[path] != before[path]]
    assert "MemoryMax=48G" in after[SLICE][1]
    assert "CPUQuota=800%" in after[SLICE][1]


def test_a_file_whose_mode_was_opened_is_closed_again(machine: Machine) -> None:
    machine.run(SETUP, "3", "amd-mi300-11")
    (machine.root / CFG.lstrip("/")).chmod(0o644)
    machine.run(SETUP, "3", "amd-mi300-11")
    assert 0o600 == machine.files()[CFG][0]


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["0"],
        ["0", "nvidia-h100-0", "32G", "16", "more"],
        ["0; rm -rf /", "nvidia-h100-0"],
        ["-1", "nvidia-h100-0"],
        ["", "nvidia-h100-0"],
        ["00", "nvidia-h100-0"],
        ["1e3", "nvidia-h100-0"],
        ["٣", "nvidia-h100-0"],
        ["0\n1", "nvidia-h100-0"],
        ["0", "a'; echo x"],
        ["0", "nvidia-h100"],
        ["0", "nvidia-h100-"],
        ["0", "nvidia-h100-0-0"],
        ["0", "NVIDIA-H100-0"],
        ["0", "nvidia-h100-$(id)"],
        ["0", "nvidia-h100-0,queue=other"],
        ["0", "../../etc-passwd-0"],
        ["0", "nvidia-h100-0\ntoken=x"],
        ["0", "nvidia-h100-0", "32GB!"],
        ["0", "nvidia-h100-0", "infinity"],
        ["0", "nvidia-h100-0", "-32G"],
        ["0", "nvidia-h100-0", "0G"],
        ["0", "nvidia-h100-0", "32G", "1.5"],
        ["0", "nvidia-h100-0", "32G", "0"],
        ["0", "nvidia-h100-0", "32G", "16%"],
        ["0", "nvidia-h100-0", "--force"],
    ],
)
def test_arguments_that_make_no_sense_are_refused_with_a_sentence(
    machine: Machine, arguments: list[str]
) -> None:
    before = machine.files()
    refused = machine.run(SETUP, *arguments)
    assert (2, "", 1) == (refused.returncode, refused.stdout, refused.stderr.count("\n"))
    assert refused.stderr.startswith(("setup-agent.sh: ", "setup-agent.sh: usage: "))
    assert (before, []) == (machine.files(), machine.calls())


@pytest.mark.parametrize("token", ["", "\n", "two words\n", 'a"\nname="x\n', "a'; echo x\n"])
def test_what_is_no_token_is_not_written_anywhere(machine: Machine, token: str) -> None:
    machine.put_file("/etc/buildkite-agent/token", token)
    refused = machine.run(SETUP, "3", "amd-mi300-11")
    assert 1 == refused.returncode
    assert "/etc/buildkite-agent/token" in refused.stderr
    assert ["/etc/buildkite-agent/token"] == list(machine.files())
    assert not token.strip() or token.strip() not in refused.stderr


def test_without_a_token_it_says_where_to_write_it(machine: Machine) -> None:
    (machine.root / "etc/buildkite-agent/token").unlink()
    refused = machine.run(SETUP, "3", "amd-mi300-11")
    assert (1, {}) == (refused.returncode, machine.files())
    assert "/etc/buildkite-agent/token isn't there" in refused.stderr


def test_a_gpu_that_is_not_there_gets_no_agent(machine: Machine) -> None:
    machine.put_program("nvidia-smi", "exit 6")
    refused = machine.run(SETUP, "9", "nvidia-h100-9")
    assert (1, "setup-agent.sh: nvidia-smi finds no GPU 9 here.\n") == (
        refused.returncode,
        refused.stderr,
    )


def test_help_tells_every_argument(machine: Machine) -> None:
    shown = machine.run(SETUP, "--help")
    assert 0 == shown.returncode
    for word in ("GPU_INDEX", "QUEUE_NAME", "MEMORY_LIMIT=32G", "CPU_CORES=16", "--dry-run"):
        assert word in shown.stdout
