"""`kernelbot serve`: HTTP API and worker in one process tree."""

import asyncio
import contextlib
import getpass
import json
import os
import signal
import socket
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import platformdirs
import structlog
import uvicorn

from kernelbot.api.app import create_app
from kernelbot.api.settings import ApiSettings
from kernelbot.domain.errors import Unavailable, UserError
from kernelbot.domain.types import Role
from kernelbot.main.database import ReadyDatabase, kept_alive, locked_data, ready_database
from kernelbot.main.logs import set_up_logs
from kernelbot.main.metrics import gathered_metrics
from kernelbot.main.settings import Settings, read_settings
from kernelbot.main.supervise import supervised_worker
from kernelbot.main.wiring import open_services
from kernelbot.services import Services

_CLOSE_CONNECTIONS_S = 3
log = structlog.get_logger()


def serve(
    *, host: str = "127.0.0.1", port: int = 8000, data: Path | None = None, worker: bool = True
) -> None:
    """Serve until SIGTERM or SIGINT; then everything that was started has ended. Blocks.

    Raises `Conflict` when another serves from the data folder, `UserError` for a port that is
    taken, `SchemaOutdated`, `Unavailable`.
    """
    settings = read_settings(data=data)
    set_up_logs()
    _make_data(settings)
    with (
        locked_data(settings),
        _listening(host, port) as listener,
        ready_database(settings) as database,
    ):
        asyncio.run(_serve(settings, database, listener, with_worker=worker))


class _Server(uvicorn.Server):
    """Uvicorn without its own signal handling: we have more to stop than it knows of."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """None of its business."""
        yield


async def _serve(
    settings: Settings, database: ReadyDatabase, listener: socket.socket, *, with_worker: bool
) -> None:
    devices = settings.device_configs()
    async with contextlib.AsyncExitStack() as stack:
        await stack.enter_async_context(kept_alive(database))
        core = await stack.enter_async_context(
            open_services(
                database.url,
                devices,
                problem_dev_dir=settings.problem_dev_dir,
                queue_rules=settings.queue.rules(),
                problems_repo=settings.problems_repo,
                export_rules=settings.export_rules(),
                login_rules=settings.login_rules(),
            )
        )
        registry = await stack.enter_async_context(gathered_metrics(core.services))
        config = uvicorn.Config(
            create_app(
                core.services,
                ApiSettings(admin_token=settings.admin_token, public_url=settings.public_url),
                registry=registry,
            ),
            log_config=None,
            access_log=False,
            lifespan="off",
            timeout_graceful_shutdown=_CLOSE_CONNECTIONS_S,
        )
        server = _Server(config)
        loop = asyncio.get_running_loop()
        for signal_number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(signal_number, _stop, server)
        if with_worker:
            await stack.enter_async_context(supervised_worker(settings, database.url))
        address = _url(listener)
        await stack.enter_async_context(_operator(core.services, address, listener))
        log.info("serving", url=address, data=str(settings.data))
        await server.serve(sockets=[listener])
        log.info("stopping")


def _stop(server: _Server) -> None:
    """The first signal stops in order, the next one doesn't wait for open connections."""
    server.force_exit = server.should_exit
    server.should_exit = True


@contextlib.contextmanager
def _listening(host: str, port: int) -> Iterator[socket.socket]:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.create_server((host, port), family=family, backlog=2048)
    except (OSError, OverflowError) as error:
        raise UserError(
            f"Can't listen on {host} port {port}: {error}", hint="Choose another with --port."
        ) from None
    with listener:
        # Connections inherit it. Without it each answer's body waits 40 ms for the client to
        # acknowledge its head; asyncio sets it only on sockets that name their protocol.
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        yield listener


def _url(listener: socket.socket) -> str:
    """Under which this machine reaches the server."""
    host, port = listener.getsockname()[:2]
    name = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)  # noqa: S104  # compared, not bound
    return f"http://{name}:{port}"


@contextlib.asynccontextmanager
async def _operator(services: Services, url: str, listener: socket.socket) -> AsyncIterator[None]:
    """The account of whoever serves, and a token that its clients on this machine find."""
    port = listener.getsockname()[1]
    signed_in = await services.users.sign_in(
        getpass.getuser(), Role.ADMIN, token_name=f"serve on port {port}"
    )
    if signed_in.user.role != Role.ADMIN:
        log.warning("operator_is_no_admin", user=signed_in.user.name)
    file = platformdirs.user_state_path("kernelbot") / "servers" / f"{port}.json"
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    file.unlink(missing_ok=True)
    draft = file.with_suffix(f".{os.getpid()}")
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as opened:
        json.dump({"url": url, "token": signed_in.token, "pid": os.getpid()}, opened)
    draft.rename(file)
    try:
        yield
    finally:
        file.unlink(missing_ok=True)
        with contextlib.suppress(Unavailable):  # then the token outlives us, known to nobody
            await services.users.sign_out(signed_in.token)


def _make_data(settings: Settings) -> None:
    try:
        settings.data.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(
            f"The data folder can't be made: {error}", hint="Choose another with --data."
        ) from None
