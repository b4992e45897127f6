from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import pytest

from tests.support.world import World
from tests.web.login.site import Site, opened


@pytest.fixture
async def site(world: World) -> AsyncIterator[Site]:
    async with AsyncExitStack() as stack:
        yield await opened(world, stack)
