from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import pytest

from tests.accounts.site import Site, opened
from tests.support.world import World


@pytest.fixture
async def site(world: World) -> AsyncIterator[Site]:
    async with AsyncExitStack() as stack:
        yield await opened(world, stack)
