"""The pod's script with the harness itself, and with an author who looks for secrets."""

import secrets
from pathlib import Path

import pytest

from kernelbot.harness.archive import build
from kernelbot.launchers.base import JobState
from kernelbot.protocol import Verdict
from tests.fakes.kubernetes import fake_kubernetes
from tests.fakes.links import fake_links
from tests.launchers.kubernetes.places import plan
from tests.launchers.stages import started
from tests.launchers.test_contract import over
from tests.support.results import result_in
from tests.support.searching import MARK, bare_job, searching_submission

SIGNATURE = "the_signature_of_a_link"


@pytest.mark.exhaustive
async def test_an_author_finds_no_secret_in_the_pod(tmp_path: Path) -> None:
    harness = build(tmp_path / "kernelbot-harness.pyz")
    source = searching_submission([str(tmp_path), "/dev/shm", "/tmp"], [MARK, SIGNATURE])
    job = bare_job(source, job_id=f"1.1.{secrets.token_hex(6)}", secret=True)
    with fake_links(harness) as links, fake_kubernetes(tmp_path / "cluster", harness) as kubernetes:
        links._secret = SIGNATURE
        async with started(plan(kubernetes, links.elsewhere()).build()) as launcher:
            outcome = await over(launcher, await launcher.launch(job))
    assert JobState.FINISHED == outcome.state, outcome.reason
    result = result_in(outcome, job)
    assert result.verdict == Verdict.ACCEPTED, result.failure
    assert job.job_id in links.events
