"""OpenEnv over HTTP: the routes, and what happens around them."""

from typing import Annotated, Any

from fastapi import FastAPI, Query, Request, Response, WebSocket
from pydantic import BaseModel, ConfigDict

from kernelbot import __version__
from kernelbot.api import errors
from kernelbot.api.middleware import BodyLimit
from kernelbot.api.settings import MIB
from kernelbot.environment.departing import unless_gone
from kernelbot.environment.messages import (
    Action,
    Envelope,
    EpisodeId,
    Observation,
    ResetRequest,
    State,
    StepRequest,
)
from kernelbot.environment.origin import FromElsewhereRefused, Hosts
from kernelbot.environment.sessions import ClientSessions
from kernelbot.environment.socket import serve_socket
from kernelbot.environment.task_routes import task_routes
from kernelbot.environment.tasks import TaskSet

WIRE_VERSION = "1.0.0"
"""OpenEnv's version of its interface, by which its tools know it."""
MAX_MESSAGE_BYTES = 16 * MIB
_DESCRIPTION = (
    "Kernels to write, judged in a sandbox: a task is a problem, an action a source, an "
    "observation the report on it."
)


class Health(BaseModel):
    """Whether it answers."""

    status: str


class Metadata(BaseModel):
    """What this environment is."""

    model_config = ConfigDict(extra="forbid")

    name: str
    description: str
    version: str


class Schemas(BaseModel):
    """JSON schemas of what is exchanged."""

    action: dict[str, Any]
    observation: dict[str, Any]
    state: dict[str, Any]


def create_application(
    name: str, tasks: TaskSet, sessions: ClientSessions, hosts: Hosts
) -> FastAPI:
    """`name`: of the environment, in the paths of its tasks."""
    app = FastAPI(title=name, version=WIRE_VERSION, description=_DESCRIPTION)
    errors.install(app)
    app.add_middleware(BodyLimit, limit_of=lambda _: MAX_MESSAGE_BYTES)
    app.add_middleware(FromElsewhereRefused, hosts=hosts)
    _add_episodes(app, sessions)
    _add_descriptions(app, name)
    app.include_router(task_routes(name, tasks))

    @app.websocket("/ws")
    async def connect(socket: WebSocket) -> None:
        await serve_socket(socket, sessions)

    return app


def _add_episodes(app: FastAPI, sessions: ClientSessions) -> None:
    @app.post("/reset")
    async def reset(asked: ResetRequest | None = None) -> Envelope:
        """Begin an episode: `metadata.episode_id` names it. It ends with its last answer, or once
        it was idle for too long."""
        observation = await sessions.reset(asked or ResetRequest())
        return Envelope.model_validate(observation.enveloped())

    @app.post("/step", response_model=Envelope)
    async def step(asked: StepRequest, request: Request) -> Envelope | Response:
        """Judge an action of an episode. If the client leaves before its answer, nothing has
        happened."""
        judging = sessions.step(asked.episode_id, asked.action, asked.timeout_s)
        observation = await unless_gone(request.receive, judging)
        if observation is None:
            return Response()  # nobody reads it
        return Envelope.model_validate(observation.enveloped())

    @app.get("/state")
    async def state(episode_id: Annotated[EpisodeId | None, Query()] = None) -> State:
        """How far an episode is; without an id, as before the first."""
        return State() if episode_id is None else sessions.state(episode_id)


def _add_descriptions(app: FastAPI, name: str) -> None:
    @app.get("/health")
    async def health() -> Health:
        """Whether it answers."""
        return Health(status="healthy")

    @app.get("/metadata")
    async def metadata() -> Metadata:
        """What this environment is."""
        return Metadata(name=name, description=_DESCRIPTION, version=__version__)

    @app.get("/schema")
    async def schema() -> Schemas:
        """JSON schemas of actions, observations and states."""
        return Schemas(
            action=Action.model_json_schema(),
            observation=Observation.model_json_schema(),
            state=State.model_json_schema(),
        )
