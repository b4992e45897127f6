"""`kernelbot serve`: HTTP API and worker in one process tree."""

import asyncio
import contextlib
import getpass
import importlib.util
import os
import socket
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import structlog

from kernelbot.accounts.logins.service import LINK_LASTS_S, link_path
from kernelbot.accounts.model import NewToken, Role
from kernelbot.accounts.tokens.model import Credential
from kernelbot.domain.errors import Unavailable, UserError
from kernelbot.domain.listening import listen
from kernelbot.platform.distribution import checkout_command
from kernelbot.platform.service import COPY_NOTE
from kernelbot.protocol.os_errors import in_words
from kernelbot.protocol.process_names import ProcessName, name_process
from kernelbot.render.text import one_line
from kernelbot.server.answer import answer, api_children
from kernelbot.server.connection_limits import raise_open_files
from kernelbot.server.database import ReadyDatabase, locked_data, ready_database, restart_if_dead
from kernelbot.server.logs import away_from_a_terminal, set_up_logs
from kernelbot.server.operator import ServerNote, note_folder, renewed, sign_out_the_dead
from kernelbot.server.settings import Settings, read_settings
from kernelbot.server.stopping import StopRequests, ended_in_order, stay_undisturbed
from kernelbot.server.supervise import SupervisedProcess, child, supervised
from kernelbot.server.wiring import open_platform
from kernelbot.services import Services

_BOT_GRACE_S = 3.0
_ADMIN_TOKEN_MIN = 20
LOG_FILE = "serve.log"
"""In the data folder, if a person sits at a terminal."""
log = structlog.get_logger()


def serve(
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    data: Path | None = None,
    worker: bool = True,
    processes: int = 1,
    as_json: bool = False,
) -> None:
    """Serve until SIGTERM, SIGINT or the end of the terminal; on return everything that was started
    has ended. Blocks.

    With `processes` 1 this process answers; with more, children answer that share the port.
    `as_json`: nothing is printed on stdout, and the log stays on stderr.

    Raises `Conflict` when another serves from the data folder, `UserError` for a port that is
    taken or an ADMIN_TOKEN that could be guessed, `SchemaOutdated`, `Unavailable`.
    """
    name_process(ProcessName.SERVER, keep_command=True)
    settings = read_settings(data=data)
    _refuse_short(settings.admin_token)
    _make_data(settings)
    with (
        ended_in_order(),
        locked_data(settings),
        _logging(settings, as_json=as_json) as log_file,
        _listening(host, port, processes) as listeners,
        ready_database(settings) as database,
    ):
        try:
            asyncio.run(
                _serve(
                    settings,
                    database,
                    listeners,
                    with_worker=worker,
                    log_file=log_file,
                    greets=not as_json,
                )
            )
        finally:
            stay_undisturbed()  # the event loop has put the signals' defaults back


@contextlib.contextmanager
def _logging(settings: Settings, *, as_json: bool) -> Iterator[Path | None]:
    """Logs for this process and its children: into a file in the data folder if a person sits at a
    terminal, who is shown the link and the next step instead. None: they aren't in a file."""
    file = settings.data.resolve() / LOG_FILE
    with contextlib.ExitStack() as stack:
        try:
            found = None if as_json else stack.enter_context(away_from_a_terminal(file))
        except OSError as error:
            raise UserError(
                f"The log can't be written: {file}: {in_words(error)}.",
                hint="Choose another folder with --data.",
            ) from None
        set_up_logs()
        raise_open_files()
        yield found


async def _serve(
    settings: Settings,
    database: ReadyDatabase,
    listeners: list[socket.socket],
    *,
    with_worker: bool,
    log_file: Path | None,
    greets: bool,
) -> None:
    stop = StopRequests()
    async with contextlib.AsyncExitStack() as stack:
        await stack.enter_async_context(restart_if_dead(database))
        core = await stack.enter_async_context(open_platform(settings, database.url))
        await core.services.users.admin_token_is(settings.admin_token)
        if with_worker:
            worker = child(settings, database.url, "work", grace_s=settings.worker.grace_s)
            await stack.enter_async_context(supervised(worker))
        if settings.discord_token and _has_discord():
            await stack.enter_async_context(supervised(_bot(settings, database.url)))
        address = _url(listeners[0])
        note = ServerNote(address, settings.public_url, _embedded_data(settings, database))
        operator = await stack.enter_async_context(_operator(core.services, note, listeners[0]))
        if greets and sys.stdout.isatty():
            await _greet(core.services, operator, settings.public_url or address, log_file)
        log.info("serving", url=address, data=str(settings.data), processes=len(listeners))
        if await core.services.platform.is_copy():
            log.warning("restored_copy", hint=COPY_NOTE)
        if len(listeners) > 1:
            apis = api_children(settings, database.url, listeners)
            await stack.enter_async_context(supervised(*apis))
            await stop.asked.wait()
        else:
            await answer(core.services, settings, listeners[0], stop)
        log.info("stopping")
        if log_file is not None:
            show("Stopping ...")


def _has_discord() -> bool:
    """Whether the bot's packages are installed; if not, the log says so."""
    found = importlib.util.find_spec("discord") is not None
    if not found:
        log.error("no_discord_bot", hint=checkout_command("discord"))
    return found


def _bot(settings: Settings, url: str) -> SupervisedProcess:
    """The Discord bot in a process of its own: whatever happens to it, HTTP is answered."""
    return child(settings, url, "bot", grace_s=_BOT_GRACE_S)


@contextlib.contextmanager
def _listening(host: str, port: int, count: int = 1) -> Iterator[list[socket.socket]]:
    """`count` listeners on one port, among which the operating system divides the connections. With
    one shared listener, the process that wakes first would accept all waiting connections."""
    with contextlib.ExitStack() as stack:
        first = _listener(host, port)
        if count == 1:
            yield [stack.enter_context(first)]
            return
        # Nobody else had the port. All sockets that share it must have SO_REUSEPORT.
        port = first.getsockname()[1]
        first.close()
        yield [stack.enter_context(_listener(host, port, shared=True)) for _ in range(count)]


def _listener(host: str, port: int, *, shared: bool = False) -> socket.socket:
    listener = listen(host, port, shared=shared)
    # Connections inherit it. Without it each answer's body waits 40 ms for the client to
    # acknowledge its head; asyncio sets it only on sockets that name their protocol.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


def _url(listener: socket.socket) -> str:
    """The URL under which this machine reaches the server."""
    host, port = listener.getsockname()[:2]
    name = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)  # noqa: S104  # compared, not bound
    return f"http://{name}:{port}"


def _embedded_data(settings: Settings, database: ReadyDatabase) -> Path | None:
    """The folder of the embedded database; None: another database is used."""
    return settings.data.resolve() if database.postgres is not None else None


@contextlib.asynccontextmanager
async def _operator(
    services: Services, note: ServerNote, listener: socket.socket
) -> AsyncIterator[NewToken]:
    """An account for the operating system user who serves, with a token that their clients on this
    machine find, with the note."""
    port = listener.getsockname()[1]
    file = note_folder() / f"{port}.json"
    await sign_out_the_dead(services, file)
    signed_in = await services.users.sign_in(
        _account_name(), Role.ADMIN, token_name=f"serve on port {port}"
    )
    if signed_in.user.role != Role.ADMIN:
        log.warning("operator_is_no_admin", user=signed_in.user.name)
    file.unlink(missing_ok=True)
    draft = file.with_suffix(f".{os.getpid()}")
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as opened:
        opened.write(note.text(signed_in.token))
    draft.rename(file)
    try:
        async with renewed(services, signed_in.token):
            yield signed_in
    finally:
        file.unlink(missing_ok=True)
        with contextlib.suppress(Unavailable):  # then the token stays valid, but nobody knows it
            await services.users.sign_out(signed_in.token)


async def _greet(services: Services, operator: NewToken, url: str, log_file: Path | None) -> None:
    """Print the link that logs the operator's browser in, and what comes next."""
    secret = await services.logins.make_link(operator.user, Credential(operator.token))
    has_boards = bool(await services.boards.list_boards(operator.user))
    greeting = greeting_text(
        operator.user.name, url, link_path(secret), has_boards=has_boards, log_file=log_file
    )
    show(greeting)
    if await services.platform.is_copy():
        show(f"Note: {COPY_NOTE}\n")


def show(text: str) -> None:
    """Print it for the person at the terminal. Nothing happens if the terminal is closed by now: a
    signal says so a moment later, and ends the server in order."""
    with contextlib.suppress(OSError):
        print(text, flush=True)


def greeting_text(
    name: str, url: str, path: str, *, has_boards: bool, log_file: Path | None = None
) -> str:
    """What a terminal shows once a server can be asked. `path`: of the link that logs in, which has
    a line of its own from the first column on, since it is 80 long, and a terminal that breaks it
    may lead to its first part."""
    following = (
        "kernelbot submit FILE --board BOARD"
        if has_boards
        else "kernelbot board create --from FOLDER, or the page Organise"
    )
    where = f"  Log: {one_line(str(log_file))}\n" if log_file else ""
    return (
        f"\nKernelBot serves at {url}\n"
        f"  Log in as {one_line(name)}, once within {LINK_LASTS_S // 60} minutes:\n"
        f"{url}{path}\n"
        "  Another link, later: kernelbot open\n"
        f"  Next: {following}\n"
        f"{where}"
    )


def _account_name() -> str:
    """The name of the user who serves; in a container the user may be a number without a name."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return f"uid-{os.getuid()}"


def _refuse_short(admin_token: str | None) -> None:
    """Here alone: for other commands the variable may be that of another program."""
    if admin_token is not None and len(admin_token) < _ADMIN_TOKEN_MIN:
        raise UserError(
            f"ADMIN_TOKEN has less than {_ADMIN_TOKEN_MIN} characters, and who guesses it is an "
            "admin.",
            hint="Make one: openssl rand -hex 24",
        )


def _make_data(settings: Settings) -> None:
    try:
        settings.data.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(
            f"The data folder can't be made: {in_words(error)}.", hint="Choose another with --data."
        ) from None
