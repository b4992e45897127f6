"""What becomes of a container whose host stays for its next call."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from kernelbot.harness.archive import build
from kernelbot.protocol import Verdict
from tests.launchers.modal.conftest import Account
from tests.launchers.stages import a_job as a_fake_job
from tests.launchers.stages import modal_launcher
from tests.launchers.test_contract import over
from tests.launchers.warm_stages import ENDLESS, WarmStage, a_job, modal_stage
from tests.support.waiting import until


@pytest.fixture(scope="module")
def harness(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("harness") / "kernelbot-harness.pyz")


@pytest.fixture
async def stage(tmp_path: Path, harness: Path) -> AsyncIterator[WarmStage]:
    async with modal_stage(tmp_path, harness, 120.0) as opened:
        yield opened


@pytest.mark.exhaustive
async def test_a_cancelled_call_leaves_container_and_host_to_the_next(stage: WarmStage) -> None:
    handle = await stage.begun(a_job(ENDLESS))
    hosts, homes = stage.hosts(), stage.homes()
    await stage.launcher.cancel(handle)
    await over(stage.launcher, handle)
    await until(stage.is_idle)
    assert Verdict.ACCEPTED == (await stage.judged(a_job())).verdict
    assert (1, hosts, homes) == (len(hosts), stage.hosts(), stage.homes())


async def test_a_cancelled_call_ends_a_container_that_isnt_to_stay(account: Account) -> None:
    handle = await account.launcher.launch(a_fake_job("sleep 60 accepted"))
    await account.launcher.cancel(handle)
    await over(account.launcher, handle)
    assert [] == account.service.containers


@pytest.mark.parametrize(("idle_s", "more"), [(0.0, ()), (90.0, (90.0, 3600.0))])
async def test_an_app_of_before_is_called_as_before(
    account: Account, idle_s: float, more: tuple[float, ...]
) -> None:
    async with modal_launcher(account.service, idle_s) as launcher:
        job = a_fake_job("accepted")
        handle = await launcher.launch(job)
        await over(launcher, handle)
    (call,) = account.service.known.values()
    assert more == call.arguments[4:]
