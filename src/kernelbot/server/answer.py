"""Answers HTTP on a listening socket: in `serve` itself, or in one of its children."""

import asyncio
import contextlib
import gc
import os
import shutil
import socket
import sys
from collections.abc import Iterator

import uvicorn

from kernelbot.api.settings import ApiSettings
from kernelbot.protocol.process_names import ProcessName, name_process
from kernelbot.server.connection_limits import connection_limits
from kernelbot.server.connections import Connections
from kernelbot.server.logs import set_up_logs
from kernelbot.server.metrics import SHARED_METRICS, gathered_metrics
from kernelbot.server.settings import Settings, read_settings
from kernelbot.server.stopping import StopRequests
from kernelbot.server.supervise import SupervisedProcess, child
from kernelbot.server.watchdog import watched
from kernelbot.server.wiring import open_platform
from kernelbot.services import Services
from kernelbot.web.site import close_site, create_site

_CLOSE_CONNECTIONS_S = 3
_ACCEPTED_AT_ONCE = 64
"""Connections per round of the event loop, in which none of them can be closed to make room."""
_WAIT_IN_THE_KERNEL = 2048
_COLLECT_AFTER = (700, 10, 1000)
"""Python's own thresholds, but long-lived objects are scanned a hundred times less often: a scan
takes 25 ms, in which nothing is answered, and finds almost nothing."""


def api_children(
    settings: Settings, url: str, listeners: list[socket.socket]
) -> list[SupervisedProcess]:
    """A process for each listener, which runs `main` below."""
    metrics = settings.data / "metrics"
    shutil.rmtree(metrics, ignore_errors=True)
    metrics.mkdir()
    return [
        child(
            settings,
            url,
            "answer",
            str(listener.fileno()),
            grace_s=_CLOSE_CONNECTIONS_S,
            environment={SHARED_METRICS: str(metrics)},
            descriptors=(listener.fileno(),),
        )
        for listener in listeners
    ]


def main() -> None:
    """One of several processes of `serve`: it ends when its parent ends, for whatever reason."""
    name_process(ProcessName.ANSWERER, keep_command=True)
    settings = read_settings()
    url = settings.external_database_url()
    assert url is not None, "`serve` passes it on"
    set_up_logs()
    with socket.socket(fileno=int(sys.argv[1])) as listener:
        asyncio.run(_answer_as_child(settings, url, listener))


async def _answer_as_child(settings: Settings, url: str, listener: socket.socket) -> None:
    stop = StopRequests(sys.stdin.fileno())
    async with watched(), open_platform(settings, url) as core:
        await answer(core.services, settings, listener, stop)


async def answer(
    services: Services, settings: Settings, listener: socket.socket, stop: StopRequests
) -> None:
    """Answer until this process is asked to stop."""
    async with gathered_metrics(services) as registry:
        api_settings = ApiSettings(
            admin_token=settings.admin_token,
            public_url=settings.public_url,
            has_bot=settings.discord_token is not None,
            vendors=settings.vendors.notes(),
            shared_metrics=SHARED_METRICS in os.environ,
        )
        site = create_site(services, api_settings, registry)
        config = uvicorn.Config(
            site,
            http=Connections(connection_limits()),  # type: ignore[arg-type]  # like a class
            log_config=None,
            access_log=False,
            lifespan="off",
            backlog=_ACCEPTED_AT_ONCE,
            timeout_graceful_shutdown=_CLOSE_CONNECTIONS_S,
        )
        server = _ApiServer(config)
        stopping = asyncio.create_task(_stop_when_asked(server, stop), name="stopping")
        # The objects that exist now are long-lived. Each scan of them for garbage would delay
        # every request for a tenth of a second.
        gc.collect()
        gc.freeze()
        gc.set_threshold(*_COLLECT_AFTER)
        try:
            if not stop.asked.is_set():
                await server.serve(sockets=[listener])
        finally:
            stopping.cancel()
            await close_site(site)


class _ApiServer(uvicorn.Server):
    """Uvicorn without its own signal handling: we have to stop more than its server."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen; asyncio has only one number for both the backlog and accepts per round."""
        await super().startup(sockets)
        for listener in sockets or ():
            listener.listen(_WAIT_IN_THE_KERNEL)

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Do nothing: the signals are ours."""
        yield


async def _stop_when_asked(server: _ApiServer, stop: StopRequests) -> None:
    """The first request stops in order; a second one doesn't wait for open connections."""
    await stop.asked.wait()
    server.should_exit = True
    await stop.insisted.wait()
    server.force_exit = True
