"""The operator's token, which expires when the server has ended, for whatever reason."""

import asyncio
import contextlib
import json
import os
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import platformdirs
import structlog

from kernelbot.client.endpoint import local_server
from kernelbot.domain.errors import Unavailable, UserError
from kernelbot.protocol.os_errors import in_words
from kernelbot.services import Services
from kernelbot.worker.moments import Moment

LASTS_S = 900.0
"""How long it lasts without a server that renews it: a killed server can't revoke its token."""
_LOOK_S = 5.0
"""How long a token may have expired after a laptop has slept, during which no pause ends."""
log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class ServerNote:
    """What clients on this machine are told."""

    url: str
    public_url: str | None
    data: Path | None
    """The folder of the embedded database; None: another database is used."""

    def text(self, token: str) -> str:
        """JSON, which `client.endpoint.local_server` reads."""
        found = {"url": self.url, "token": token, "pid": os.getpid()}
        more = {"data": self.data and str(self.data), "public_url": self.public_url}
        return json.dumps(found | {name: value for name, value in more.items() if value})


def note_folder() -> Path:
    """Where clients of our account look for servers. Made if it is missing; raises `UserError`."""
    folder = platformdirs.user_state_path("kernelbot") / "servers"
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise UserError(
            "The folder in which clients of this machine find the server can't be made: "
            f"{in_words(error)}.",
            hint="Set XDG_STATE_HOME to a folder that you may write to, here and for them.",
        ) from None
    return folder


async def sign_out_the_dead(services: Services, file: Path) -> None:
    """Revoke the tokens that killed servers left beside `file` and in it. `file` is that of our
    own port, where nobody else can serve. Raises `Unavailable`."""
    for other in file.parent.glob("*.json"):
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            token = str(json.loads(other.read_text())["token"])
            if other == file or local_server(other) is None:
                await services.users.sign_out(token)
                other.unlink(missing_ok=True)


@contextlib.asynccontextmanager
async def renewed(services: Services, token: str, lasts_s: float = LASTS_S) -> AsyncIterator[None]:
    """Keep the token valid while the block runs, and no longer than `lasts_s` after its end."""
    task = asyncio.create_task(_renew(services, token, lasts_s), name="renew the operator's token")
    try:
        yield
    finally:
        task.cancel()


async def _renew(services: Services, token: str, lasts_s: float) -> None:
    renewed_at: Moment | None = None
    while True:
        if renewed_at is None or renewed_at.elapsed_s() >= lasts_s / 10:
            renewed_at = Moment.now()
            try:
                await services.users.renew(token, lasts_s)
            except Unavailable as error:
                log.warning("operator_token_not_renewed", error=str(error))
        await asyncio.sleep(min(_LOOK_S, lasts_s / 10))
