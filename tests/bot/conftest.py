"""`stage`: a bot that the tests of a file share; what each test says begins a new transcript."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.bot.stage import Stage, open_stage
from tests.support.postgres import TestServer


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared_stage(postgres: TestServer) -> AsyncIterator[Stage]:
    """With the bot running."""
    with postgres.database() as url:
        async with open_stage(url) as stage, stage.running() as bot:
            stage.bot = bot
            yield stage


@pytest.fixture
def stage(shared_stage: Stage) -> Stage:
    """The file's, with an empty transcript."""
    shared_stage.discord.transcript.clear()
    return shared_stage
