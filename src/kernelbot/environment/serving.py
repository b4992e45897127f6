"""`kernelbot env serve`: one judge, all sessions, until it is stopped."""

import asyncio
import contextlib
import re
import socket
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from signal import SIGINT, SIGTERM

import uvicorn
from fastapi import FastAPI

from kernelbot.catalog.problem import LoadedProblem
from kernelbot.domain.errors import UserError
from kernelbot.domain.listening import listen
from kernelbot.environment.application import MAX_MESSAGE_BYTES, create_application
from kernelbot.environment.episodes import Grounds
from kernelbot.environment.held_out import HeldOutSecret
from kernelbot.environment.origin import Hosts
from kernelbot.environment.recording import Recorder, RecordNote
from kernelbot.environment.sessions import ClientSession, ClientSessions
from kernelbot.environment.settings import EpisodeRules, SessionLimits
from kernelbot.environment.tasks import Division, TaskSet
from kernelbot.library.judge import Judge
from kernelbot.library.opening import cluster_address
from kernelbot.render.text import counted

_CLOSE_CONNECTIONS_S = 3
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


@dataclass(frozen=True)
class ServerAddress:
    """Where a server listens. `port` 0: any that is free."""

    host: str
    port: int
    allowed_hosts: tuple[str, ...] = ()
    """Names that browsers may ask it by, beside `localhost`."""


@dataclass(frozen=True)
class Environment:
    name: str
    problems: Sequence[tuple[str, LoadedProblem]]
    """With their ids."""
    division: Division
    rules: EpisodeRules
    limits: SessionLimits
    slots: int | None = None
    """How many sources are judged at once; None: as many as the cluster has room for, or here one
    for each processor."""
    record: Path | None = None
    """The folder that episodes are recorded in; None: they aren't."""
    secret: HeldOutSecret = field(default_factory=HeldOutSecret)
    """Decides what is held out."""
    cluster: str | None = None
    """The address of the Ray cluster that judges; None: this machine does."""

    def __post_init__(self) -> None:
        """Raises `UserError` for a name that can't stand in a path."""
        if not _NAME.fullmatch(self.name):
            raise UserError(
                f"An environment can't be called {self.name[:100]!r}.",
                hint="A name has up to 100 letters, digits, hyphens, dots and underscores, and "
                "begins with a letter or a digit.",
            )


OnStep = Callable[[str], None]


def serve(
    environment: Environment, address: ServerAddress, *, on_refusal: OnStep, on_ready: OnStep
) -> None:
    """Serve until SIGTERM or SIGINT. `on_refusal` is told what is no task on this device, and why;
    `on_ready` how many tasks there are, and where. Blocks.

    Raises `InvalidProblem` without any task, `UserError` for a port that is taken, a device that
    isn't configured, what is no cluster's address or a folder that can't be written, and
    `Unavailable` if nothing can be judged.
    """
    with listen(address.host, address.port) as listener:
        hosts = Hosts.for_server(address.host, address.allowed_hosts)
        asyncio.run(_serve(environment, listener, hosts, on_refusal, on_ready))


async def _serve(
    environment: Environment,
    listener: socket.socket,
    hosts: Hosts,
    on_refusal: OnStep,
    on_ready: OnStep,
) -> None:
    rules, secret = environment.rules, environment.secret
    recorder = None
    if environment.record is not None:
        note = RecordNote(rules.held_out, secret.seed, environment.division)
        recorder = Recorder(environment.record, note)
    async with Judge(_judges(environment), slots=environment.slots) as judge:
        judge.expect_device(rules.device)
        problems = list(_judged_here(judge, environment, on_refusal))
        tasks = TaskSet(problems, environment.division, rules.held_out, secret)
        grounds = Grounds(judge, rules, is_recorded=recorder is not None, secret=secret)
        sessions = ClientSessions(
            lambda: ClientSession(grounds, tasks, recorder), environment.limits
        )
        app = create_application(environment.name, tasks, sessions, hosts)
        server = _EnvironmentServer(server_config(app, environment.limits))
        for number in (SIGINT, SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, server.stop)
        async with sessions.end_idle_sessions():
            on_ready(f"{counted(len(tasks), 'task')} at {_url(listener)}")
            await server.serve(sockets=[listener])


def server_config(app: FastAPI, limits: SessionLimits) -> uvicorn.Config:
    """How it is served. A client that answers no ping may be one that waits for its model: it is
    gone once its session has been idle for too long, as all others are."""
    return uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        lifespan="off",
        ws="websockets-sansio",
        ws_max_size=MAX_MESSAGE_BYTES,
        ws_per_message_deflate=False,
        ws_ping_timeout=limits.idle_s,
        timeout_graceful_shutdown=_CLOSE_CONNECTIONS_S,
    )


def _judges(environment: Environment) -> str | None:
    """What a `Judge` is opened with: a cluster's devices are named with each source."""
    if environment.cluster is None:
        return environment.rules.device
    return cluster_address(environment.cluster)


def _judged_here(
    judge: Judge, environment: Environment, on_refusal: OnStep
) -> Iterator[tuple[str, LoadedProblem]]:
    """The problems for which a source can get a reward on this device: for others no source could
    be right."""
    rules = environment.rules
    for name, loaded in environment.problems:
        if rules.is_timed:
            try:
                judge.expect_baseline(loaded, mode=rules.mode, device=rules.device)
            except UserError as error:
                on_refusal(f"{name}: {error}")
                continue
        yield name, loaded


class _EnvironmentServer(uvicorn.Server):
    """Uvicorn without its own signal handling: judge and records are closed after it."""

    def stop(self) -> None:
        """In order; a second time without waiting for open connections."""
        self.force_exit = self.should_exit
        self.should_exit = True

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Do nothing: the signals are ours."""
        yield


def _url(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
