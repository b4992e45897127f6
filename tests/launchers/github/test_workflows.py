"""The workflows that ship with the project, as a reviewer reads them."""

import re
from typing import Any

import pytest
import yaml

from kernelbot.launchers.github.ends import JUDGE_STEP, RESULT_STEP
from kernelbot.launchers.github.inputs import make_inputs
from kernelbot.launchers.github.launcher import ARTIFACT, RESULT
from kernelbot.launchers.github.settings import GithubDevice, GithubSettings
from kernelbot.launchers.handles import job_name
from tests.fakes.github.workflow import WORKFLOWS, read_workflow
from tests.launchers.plans import DEVICE
from tests.launchers.stages import a_job

FILES = ["kernelbot-nvidia.yml", "kernelbot-amd.yml"]


def steps(document: dict[str, Any]) -> list[dict[str, Any]]:
    (job,) = document["jobs"].values()
    found: list[dict[str, Any]] = job["steps"]
    return found


@pytest.fixture(params=FILES)
def workflow(request: pytest.FixtureRequest) -> dict[str, Any]:
    return read_workflow(request.param)


def test_there_are_no_other_workflows_that_judge() -> None:
    found = {path.name for path in WORKFLOWS.iterdir()} - {"ci.yml"}
    assert sorted(found) == sorted(FILES)


def test_it_takes_what_the_launcher_sends_and_no_more(workflow: dict[str, Any]) -> None:
    settings = GithubSettings("a/b", ("t",), {DEVICE: GithubDevice("x", FILES[0])})
    sent = make_inputs(a_job("accepted"), settings, None)
    declared = workflow["on"]["workflow_dispatch"]["inputs"]
    assert (list(declared), list(workflow["on"])) == (list(sent), ["workflow_dispatch"])
    assert len(declared) <= 10


def test_its_runs_are_found_by_the_attempt(workflow: dict[str, Any]) -> None:
    assert workflow["run-name"] == job_name("${{ inputs.attempt }}")


def test_it_may_read_the_repository_and_nothing_else(workflow: dict[str, Any]) -> None:
    assert workflow["permissions"] == {"contents": "read"}
    assert all("permissions" not in job for job in workflow["jobs"].values())
    assert steps(workflow)[0]["with"]["persist-credentials"] is False


def test_actions_are_pinned_by_their_commits(workflow: dict[str, Any]) -> None:
    used = [step["uses"] for step in steps(workflow) if "uses" in step]
    assert [use for use in used if not re.fullmatch(r"actions/[\w-]+@[0-9a-f]{40}", use)] == []


def test_no_input_reaches_a_shell_or_the_environment(workflow: dict[str, Any]) -> None:
    texts = [yaml.safe_dump([step.get("run"), step.get("env")]) for step in steps(workflow)]
    assert [text for text in texts if "${{" in text] == []
    assert "secrets." not in yaml.safe_dump(workflow)


def test_the_launcher_finds_what_it_uploads(workflow: dict[str, Any]) -> None:
    _, judge, upload = steps(workflow)
    assert (judge["name"], upload["name"]) == (JUDGE_STEP, RESULT_STEP)
    assert upload["with"]["name"] == ARTIFACT
    assert upload["with"]["path"] == f"out/{RESULT}"


def test_they_differ_by_their_vendors_alone() -> None:
    one, other = (
        (WORKFLOWS / name).read_text().replace(vendor, "VENDOR").splitlines()
        for name, vendor in zip(FILES, ("NVIDIA", "AMD"), strict=True)
    )
    differing = [line.strip() for line in set(one) ^ set(other)]
    assert all(re.match(r"default: |run: |env:|CUDA_DEVICE_ORDER", line) for line in differing)
