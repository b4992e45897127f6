"""Reports of compilers, and which is that of the version before."""

from dataclasses import replace

import pytest

from kernelbot.preflight.model import Figures, Kernel, PreflightOutcome, PreflightReport
from kernelbot.submissions.preflights import store as preflights
from tests.support.world import World

COMPILED = PreflightReport(
    "H100", "90a", PreflightOutcome.COMPILED, (Kernel(Figures("sort", registers=40)),)
)
REFUSED = replace(COMPILED, outcome=PreflightOutcome.REFUSED, kernels=())


@pytest.mark.parametrize(("refused", "expected"), [(19, COMPILED), (20, None)])
async def test_the_version_before_is_looked_for_among_twenty(
    world: World, refused: int, expected: PreflightReport | None
) -> None:
    await world.board(devices=("H100",))
    for number, report in enumerate((COMPILED, *[REFUSED] * refused, COMPILED)):
        sent = await world.submit(content=f"x = {number}\n".encode())
        await world.services.submissions.cancel(world.ada.user, sent.id)
        async with world.database.write() as session:
            await preflights.keep(session, sent.id, "H100", report)
    async with world.database.read() as session:
        found = await preflights.before(session, sent.id, "H100")
    assert expected == found
