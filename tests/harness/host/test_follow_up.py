"""A job and what follows it on the same node."""

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from kernelbot.harness.archive import build
from kernelbot.harness.host.cancellation import Cancellation
from kernelbot.harness.host.host import Host
from kernelbot.harness.host.job_folder import FolderJudge
from kernelbot.launchers.base import Left
from kernelbot.launchers.results import read_result
from kernelbot.protocol import JobSpec, Mode, RunResult, Timeouts, Verdict, encode_payload, to_wire
from kernelbot.protocol.job import FollowUp
from tests.harness.jobs import SORT, a_job, a_problem
from tests.support.results import LONG_S

SEED = 7_654_321


@pytest.fixture(scope="module")
def host() -> Iterator[Host]:
    made = Host(lasting=False)
    yield made
    made.close()


PATIENT = a_problem(timeouts=Timeouts(test_s=60, benchmark_s=60, ranked_s=60))


def followed(text: str = SORT) -> JobSpec:
    """A public run, with the secret one behind it."""
    job = replace(a_job(text, problem=PATIENT), job_id="7.1.abc")
    return replace(job, follow_up=FollowUp("8.1.abc", Mode.LEADERBOARD, SEED))


def both(content: bytes, job: JobSpec) -> tuple[RunResult, RunResult]:
    left = Left(content)
    return read_result(left, job, LONG_S), read_result(left, job, LONG_S, of_next=True)


def judged(host: Host, folder: Path, job: JobSpec) -> tuple[bytes, str]:
    """What is left in a job's folder, and what was told of it."""
    (folder / "jobspec.json").write_text(json.dumps(to_wire(job)))
    told: list[str] = []
    ending = FolderJudge(host, no_sandbox_ok=False, durable=False).judge(
        folder, Cancellation(), lambda event: told.append(str(event))
    )
    assert ending.error == ""
    return (folder / "result.json").read_bytes(), "".join(told)


@pytest.mark.exhaustive  # each run has test_nothing_follows_what_is_not_accepted
def test_a_node_goes_on_with_what_follows(host: Host, tmp_path: Path) -> None:
    job = followed()
    content, told = judged(host, tmp_path, job)
    first, second = both(content, job)
    assert (first.job_id, first.mode, first.verdict) == (job.job_id, Mode.TEST, Verdict.ACCEPTED)
    assert (second.job_id, second.mode) == ("8.1.abc", Mode.LEADERBOARD)
    assert second.verdict is Verdict.ACCEPTED, second.failure
    assert second.score_s is not None
    assert told.count("'finished'") == 1, "of the first alone, which is the one that is followed"


def test_nothing_follows_what_is_not_accepted(host: Host, tmp_path: Path) -> None:
    job = followed("def custom_kernel(data):\n    return 7\n")
    content, _ = judged(host, tmp_path, job)
    assert read_result(Left(content), job, LONG_S).verdict is Verdict.WRONG_ANSWER
    assert "follow_up" not in json.loads(content)


@pytest.mark.exhaustive
def test_the_harness_as_one_file_goes_on_too(tmp_path: Path) -> None:
    job, result = followed(), tmp_path / "result.json"
    archive = build(tmp_path / "harness.pyz")
    command = [sys.executable, "-I", str(archive), "node", "--payload", "-"]
    options = ["--result", str(result), "--locks", str(tmp_path / "locks")]
    subprocess.run(
        [*command, *options], input=encode_payload(job).encode(), check=True, timeout=120, cwd="/"
    )
    first, second = both(result.read_bytes(), job)
    assert (first.verdict, second.verdict) == (Verdict.ACCEPTED, Verdict.ACCEPTED)
