"""The harness itself in a container of the stand-in's, and the app as it is deployed."""

from pathlib import Path
from typing import Any

import pytest

from kernelbot.harness.archive import build
from kernelbot.launchers.base import JobState
from kernelbot.launchers.links import NodeLinks
from kernelbot.launchers.modal import ModalDevice, ModalLauncher, ModalSettings
from kernelbot.protocol import Verdict
from tests.fakes.modal import FakeModal
from tests.fakes.modal.service import load_app
from tests.launchers.plans import DEVICE
from tests.launchers.stages import modal_launcher
from tests.launchers.test_contract import over
from tests.support.homes import processes_of_home
from tests.support.results import result_in
from tests.support.searching import MARK, bare_job, searching_submission

SIGNATURE = "the_signature_of_a_link"


class Links:
    """To a platform that isn't there: progress is dropped."""

    def for_job(self, job_id: str, valid_s: float) -> NodeLinks:
        url = f"http://127.0.0.1:1/{job_id}?signature={SIGNATURE}"
        return NodeLinks(url, url, "http://127.0.0.1:1/harness", "0" * 64)


@pytest.mark.exhaustive
async def test_an_author_finds_no_secret_in_the_container(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MODAL_TOKEN_SECRET", "a_token_of_modals")
    service = FakeModal(tmp_path / "containers", build(tmp_path / "kernelbot-harness.pyz"))
    settings = ModalSettings({DEVICE: ModalDevice("judge_cpu")})
    places = [str(tmp_path), "/dev/shm"]
    marks = [MARK, SIGNATURE, "a_token_of_modals"]
    source = searching_submission(places, marks)
    try:
        launcher = ModalLauncher(settings, service.calls(), Links())
        job = bare_job(source, secret=True)
        result = result_in(await over(launcher, await launcher.launch(job)), job)
    finally:
        service.close()
    assert result.verdict == Verdict.ACCEPTED, result.failure


@pytest.mark.exhaustive
async def test_a_container_that_is_terminated_leaves_nothing(tmp_path: Path) -> None:
    source = "import time\ndef custom_kernel(data):\n    time.sleep(60)\n"
    service = FakeModal(tmp_path / "containers", build(tmp_path / "kernelbot-harness.pyz"))
    try:
        async with modal_launcher(service) as launcher:
            handle = await launcher.launch(bare_job(source))
            await launcher.cancel(handle)
            outcome = await over(launcher, handle)
    finally:
        service.close()
    container = service.known[handle.split(":")[0]].container
    assert container is not None
    assert (JobState.LOST, []) == (outcome.state, processes_of_home(container.folder))


@pytest.fixture(scope="module")
def app() -> Any:
    return load_app()


def test_each_device_has_a_function(app: Any) -> None:
    devices = ("cpu", "t4", "l4", "l4x4", "a100", "h100", "b200")
    assert [name for name in dir(app) if name.startswith("judge_")] == sorted(
        f"judge_{device}" for device in devices
    )


def test_a_call_outlasts_the_judge(app: Any) -> None:
    from kernelbot.launchers.modal.settings import FUNCTION_TIMEOUT_S

    assert (app.TIMEOUT_S, app.COMMON["retries"]) == (FUNCTION_TIMEOUT_S, 0)


def test_nothing_that_a_container_returns_is_unpickled(app: Any) -> None:
    assert app.COMMON["_experimental_restrict_output"] is True
