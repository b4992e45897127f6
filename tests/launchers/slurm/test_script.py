"""What goes to sbatch, compared with golden files; write them anew with
`python -m tests.launchers.slurm.test_script`."""

import dataclasses
import shlex
import subprocess
from pathlib import Path

import pytest

from kernelbot.domain.errors import PlatformError
from kernelbot.launchers.slurm import SlurmDevice, SlurmSettings
from kernelbot.launchers.slurm.script import SbatchRequest, make_submission
from kernelbot.protocol import JobSpec
from tests.launchers.stages import a_job

GOLDEN = Path(__file__).parent / "golden"
SETTINGS = SlurmSettings("/scratch/kernelbot", {}, settle_s=1)
NASTY = SlurmSettings(
    "/scratch/kernel bot's $(id)",
    {},
    python="/opt/python 3.12/bin/python3",
    setup=(". /etc/profile", "module load cuda/12.4"),
    no_sandbox_ok=True,
)
H100 = SlurmDevice("gpu:h100:1", "gpu", ("--account=kernels", "--cpus-per-task=8"))
PAYLOAD = "eJwrzs9NBQAFsgH7"
HARNESS = "harness/0123456789abcdef.pyz"


def job() -> JobSpec:
    return dataclasses.replace(a_job("accepted"), job_id="12.1.0123456789ab")


def submission(case: str) -> SbatchRequest:
    if case == "plain":
        return make_submission(job(), PAYLOAD, SlurmDevice(None), SETTINGS, HARNESS)
    if case == "nasty":
        return make_submission(job(), PAYLOAD, H100, NASTY, HARNESS)
    small = dataclasses.replace(SETTINGS, max_script_bytes=10)
    return make_submission(job(), PAYLOAD, H100, small, HARNESS)


def text(case: str) -> str:
    made = submission(case)
    return f"# sbatch {shlex.join(made.options)}\n{made.script}"


@pytest.mark.parametrize("case", ["plain", "nasty", "too-long"])
def test_the_script_is_the_golden_one(case: str) -> None:
    assert text(case) == (GOLDEN / f"{case}.sh").read_text()


def test_a_payload_too_long_for_a_script_goes_into_a_file() -> None:
    made = submission("too-long")
    assert (made.payload, PAYLOAD in made.script) == (PAYLOAD, False)


def test_the_payload_is_not_in_the_log_of_a_harness_that_was_killed(tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\necho my last words >&2\nkill -KILL $$\n")
    python.chmod(0o755)
    for name in ("jobs", "done", HARNESS.removesuffix(".pyz")):
        (tmp_path / name).mkdir(parents=True)
    settings = SlurmSettings(str(tmp_path), {}, python=str(python))
    script = tmp_path / "script"
    script.write_text(make_submission(job(), PAYLOAD, H100, settings, HARNESS).script)
    ended = subprocess.run(["bash", script], check=False)
    log = (tmp_path / "jobs" / job().job_id / "log").read_text()
    assert (ended.returncode, log) == (137, "my last words\n")


@pytest.mark.parametrize("name", ["", "a'; echo x", "../x", "-1", "a/b", "1\n2", "x" * 65])
def test_an_id_that_could_do_harm_is_refused(name: str) -> None:
    bad = dataclasses.replace(job(), job_id=name)
    with pytest.raises(PlatformError, match="can't name a job"):
        make_submission(bad, PAYLOAD, H100, SETTINGS, HARNESS)


if __name__ == "__main__":
    for name in ("plain", "nasty", "too-long"):
        (GOLDEN / f"{name}.sh").write_text(text(name))
