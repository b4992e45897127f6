"""What is done once, when something is opened."""

from pathlib import Path

import pytest

from kernelbot.server.tables import DatabaseSettings, DuelSettings
from kernelbot.server.wiring import open_platform
from kernelbot.server.worker_wiring import open_run_lifecycle
from tests.support.postgres import LIMITS
from tests.support.workers import quick_settings
from tests.support.world import World


async def test_sessions_have_the_limits_of_the_settings(world: World, tmp_path: Path) -> None:
    table = DatabaseSettings(
        lock_timeout_s=1, statement_timeout_s=2, idle_in_transaction_timeout_s=3
    )
    given = quick_settings(tmp_path).model_copy(update={"database": table})
    async with open_platform(given, world.database.url) as core, core.database.read() as session:
        row = await session.one(LIMITS)
    assert {"locked": "1s", "slow": "2s", "idle": "3s"} == row


@pytest.mark.parametrize(
    ("settings", "places"),
    [
        (DuelSettings(), 10),
        (DuelSettings(places=3), 3),
        (DuelSettings(enabled=False, places=3), None),
    ],
)
async def test_a_worker_says_which_duels_there_are(
    world: World, tmp_path: Path, settings: DuelSettings, places: int | None
) -> None:
    given = quick_settings(tmp_path).model_copy(update={"duels": settings})
    async with open_run_lifecycle(world.database, given), world.database.read() as session:
        assert {"duel_places": places} == await session.one("SELECT duel_places FROM platform")
