"""The operator's token, which ends with the server, however that ends."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from pathlib import Path

import structlog

from kernelbot.client.endpoint import is_alive
from kernelbot.domain.errors import Unavailable
from kernelbot.services import Services

LASTS_S = 900.0
"""Without a server that renews it. One that was killed can't take its token back."""
log = structlog.get_logger(__name__)


async def sign_out_the_dead(services: Services, file: Path) -> None:
    """Take back the tokens that killed servers left beside `file` and in it, which is that of our
    own port: nobody else serves there any more. Raises `Unavailable`."""
    for other in file.parent.glob("*.json"):
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            left = json.loads(other.read_text())
            token, pid = str(left["token"]), int(left["pid"])
            if other == file or not is_alive(pid):
                await services.users.sign_out(token)
                other.unlink(missing_ok=True)


@contextlib.asynccontextmanager
async def renewed(services: Services, token: str, lasts_s: float = LASTS_S) -> AsyncIterator[None]:
    """While the block runs the token lasts, and from its end on no longer than `lasts_s`."""
    task = asyncio.create_task(_renew(services, token, lasts_s), name="renew the operator's token")
    try:
        yield
    finally:
        task.cancel()


async def _renew(services: Services, token: str, lasts_s: float) -> None:
    while True:
        try:
            await services.users.renew(token, lasts_s)
        except Unavailable as error:
            log.warning("operator_token_not_renewed", error=str(error))
        await asyncio.sleep(lasts_s / 10)
