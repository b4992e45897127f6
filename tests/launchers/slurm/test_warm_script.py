"""The script of a warm node, without Slurm: what becomes of the jobs when its harness ends."""

import os
import subprocess
from pathlib import Path

import pytest

from kernelbot.launchers.slurm import SlurmDevice, SlurmSettings
from kernelbot.launchers.slurm.warm_script import ASK_LEFT, make_node

NEEDS = "0123456789abcdef"
HARNESS = "harness/0123456789abcdef.pyz"


def run(folder: Path, *harness: str) -> int:
    """A node whose harness does what the lines say, while two jobs wait; its exit code."""
    python = folder / "python"
    python.write_text("\n".join(["#!/bin/sh", "mkdir nodes/7.builds", *harness]))
    python.chmod(0o755)
    for name in ("jobs", "done", "waiting", HARNESS.removesuffix(".pyz")):
        (folder / name).mkdir(parents=True)
    for job in ("1.1.a", "2.1.b"):
        (folder / "waiting" / f"{NEEDS}-100-{job}").mkdir()
        (folder / "waiting" / f"{NEEDS}-100-{job}" / "jobspec.json").write_text("a secret")
    settings = SlurmSettings(str(folder), {}, python=str(python), warm_idle_s=60.0)
    node = make_node(NEEDS, 100, SlurmDevice(None), settings, HARNESS)
    environment = {**os.environ, "SLURM_JOB_ID": "7"}
    ended = subprocess.run(["bash", "-c", node.script], env=environment, check=False)
    assert not (folder / "nodes" / "7.builds").exists()
    return ended.returncode


def ended(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text().strip() for path in (folder / "done").iterdir()}


def waiting(folder: Path) -> int:
    return len(list((folder / "waiting").iterdir()))


def test_a_node_that_can_t_judge_takes_one_job_with_it(tmp_path: Path) -> None:
    assert run(tmp_path, "echo no numpy >&2", "exit 3") == 3
    assert (ended(tmp_path), waiting(tmp_path)) == ({"1.1.a": "3"}, 1)
    assert (tmp_path / "jobs" / "1.1.a" / "log").read_text() == "no numpy\n"
    assert not (tmp_path / "jobs" / "1.1.a" / "jobspec.json").exists()


@pytest.mark.parametrize("end", ["exit 0", "kill -KILL $$", "kill -TERM $$"])
def test_a_node_that_ends_or_is_ended_takes_none(tmp_path: Path, end: str) -> None:
    run(tmp_path, end)
    assert (ended(tmp_path), waiting(tmp_path)) == ({}, 2)


def test_a_job_that_the_harness_had_is_told_to_have_ended_and_no_other(tmp_path: Path) -> None:
    take = f"mv waiting/{NEEDS}-100-2.1.b jobs/2.1.b && : > jobs/2.1.b/node.7"
    other = "mkdir jobs/9.1.c && : > jobs/9.1.c/node.77"
    before = "mkdir jobs/8.1.d && : > jobs/8.1.d/node.7 && echo 0 > done/8.1.d"
    assert run(tmp_path, take, other, before, "kill -KILL $$") == 137
    assert (ended(tmp_path), waiting(tmp_path)) == ({"2.1.b": "137", "8.1.d": "0"}, 1)


@pytest.mark.parametrize(
    ("state", "squeue", "said"),
    [
        ("mixed", "echo RUNNING 2000000000", range(1, 2_000_000_000)),
        ("draining", "echo RUNNING 2000000000", range(1)),
        ("mixed", "echo RUNNING 1000000000", range(-2_000_000_000, 0)),
        ("mixed", "true", range(1)),  # it has ended
        ("mixed", "echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1", range(1)),
        ("mixed", "echo 'Unable to contact slurm controller' >&2; exit 1", None),
    ],
)
def test_a_node_asks_slurm_for_how_long_it_may_take_jobs(
    tmp_path: Path, state: str, squeue: str, said: range | None
) -> None:
    for name, line in (("sinfo", f"echo {state}"), ("squeue", squeue)):
        (tmp_path / name).write_text(f"#!/bin/sh\n{line}\n")
        (tmp_path / name).chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "SLURM_JOB_ID": "7"}
    answer = subprocess.run(
        ["sh", "-c", ASK_LEFT], env=environment, capture_output=True, text=True, check=False
    ).stdout.strip()
    assert int(answer) in said if said is not None else answer == ""
