"""Our requests and the fake's answers, held against what GitHub publishes."""

from pathlib import Path

from tests.fakes.github import TOKEN
from tests.fakes.github.schema import OPERATIONS, mistakes
from tests.launchers.github.places import place
from tests.launchers.plans import DEVICE
from tests.launchers.stages import a_job


async def test_every_exchange_is_as_the_schema_has_it(tmp_path: Path) -> None:
    async with place(tmp_path, runners=1, settle_s=0, queue_limit=9) as here:
        here.github.accounts[TOKEN].admin = True
        await here.launcher.availability(DEVICE)
        for text in ("accepted", "silent"):  # of the second the jobs are asked for, too
            handle = await here.launcher.launch(a_job(text))
            await here.over(handle)
            await here.launcher.cancel(handle)
            await here.launcher.forget(handle)
        await here.launcher.cancel("999999:1.1.ffffffffffff")
        await here.launcher.poll(["999999:1.1.ffffffffffff"])
    exchanges = here.github.exchanges
    assert [] == [(r.path, wrong) for r, answer in exchanges if (wrong := mistakes(r, answer))]
    assert len({(r.method, r.path.rpartition("/")[2]) for r, _ in exchanges}) >= len(OPERATIONS)
