"""The HTTP door: puts routers, errors and middleware together."""

from collections.abc import Callable, Sequence

from fastapi import APIRouter, FastAPI
from fastapi.params import Depends
from fastapi.routing import APIRoute
from prometheus_client import CollectorRegistry, Histogram
from starlette.types import Scope

from kernelbot import __version__
from kernelbot.accounts import api as users
from kernelbot.accounts.logins import api as logins
from kernelbot.accounts.tokens import api as tokens
from kernelbot.api import errors, popcorn
from kernelbot.api.answers import RenderedAnswers
from kernelbot.api.attempts import Attempts, Failures, failures_metric
from kernelbot.api.departures import Departures, Unfinished
from kernelbot.api.middleware import (
    AccessLog,
    BodyLimit,
    Heads,
    NoStore,
    Refusal,
    StrictTransport,
    TidyPath,
    body_too_large,
)
from kernelbot.api.openapi import Documented
from kernelbot.api.settings import ApiSettings
from kernelbot.api.turns import RequestTurns
from kernelbot.boards import api as boards
from kernelbot.boards.invites import api as invites
from kernelbot.boards.sync import api as sync
from kernelbot.duels import api as duels
from kernelbot.extensions import installed
from kernelbot.moderation.deletion import api as deletion
from kernelbot.moderation.rejudges import api as rejudges
from kernelbot.moderation.reviews import api as reviews
from kernelbot.platform import api as platform
from kernelbot.platform.exports import api as exports
from kernelbot.platform.health import api as system
from kernelbot.platform.statistics import api as statistics
from kernelbot.ranking.authors import api as authors
from kernelbot.ranking.following import api as following
from kernelbot.runs.nodes import api as nodes
from kernelbot.services import Services
from kernelbot.submissions.api import routes as submissions
from kernelbot.submissions.sharing import api as sharing
from kernelbot.webhooks import api as webhooks

PREFIX = "/api/v1"
V1 = (
    submissions.router,
    sharing.router,
    nodes.router,
    boards.router,
    boards.making,
    invites.router,
    reviews.router,
    deletion.router,
    duels.router,
    rejudges.router,
    sync.router,
    statistics.router,
    exports.router,
    authors.router,
    following.router,
    users.router,
    tokens.router,
    webhooks.router,
    logins.router,
    logins.links,
    platform.router,
    system.devices,
)
"""The core's routes below the prefix; the busiest first, since paths are tried in this order."""


def create_app(
    services: Services,
    settings: ApiSettings | None = None,
    registry: CollectorRegistry | None = None,
    pages: Sequence[APIRouter] = (),
    pages_need: Sequence[Depends] = (),
    refusal: Refusal = body_too_large,
) -> FastAPI:
    """The application over these services. `registry` holds the metrics that `/metrics` shows;
    None: one with the HTTP metrics alone. `pages`: routes for browsers, which come before those of
    existing clients, since the latter match any path of three parts; `pages_need`: what is checked
    first for each of them; `refusal`: what a body that is too large is answered with."""
    settings = settings or ApiSettings()
    registry = registry or CollectorRegistry()
    app = Documented(
        prefix=PREFIX,
        title="KernelBot",
        version=__version__,
        summary="Kernel competitions: submissions judged in a sandbox, measured, ranked.",
        generate_unique_id_function=_operation_id,
        docs_url=None,  # FastAPI's own pages load their programs from another host
        redoc_url=None,
        # Nobody here sets it up, and FastAPI would ask for each request whether somebody has.
        telemetry={"tracing": False, "metrics": False, "logs": False},
    )
    app.state.services = services
    app.state.settings = settings
    app.state.registry = registry
    app.state.answers = RenderedAnswers()
    app.state.attempts = Attempts()
    app.state.failures = Failures.up_to(settings.wrong_tokens_a_minute, failures_metric())
    # Each by itself: a router of routers would match the path twice.
    beside = [router for one in installed() for router in one.routes]
    for router in (*V1, *beside):
        app.include_router(router, prefix=PREFIX)
    app.include_router(system.probes)
    for router in pages:
        app.include_router(router, dependencies=pages_need)
    for router in popcorn.ROUTERS:
        app.include_router(router)
    errors.install(app)
    # The last added is the outermost.
    app.add_middleware(Departures)
    app.add_middleware(Heads)
    app.add_middleware(BodyLimit, limit_of=_limits(settings), refusal=refusal)
    app.add_middleware(RequestTurns, per_turn=settings.begun_per_turn)
    app.add_middleware(NoStore)
    latency = _latency()
    if not settings.shared_metrics:
        registry.register(latency)
        registry.register(app.state.failures.metric)
    if settings.is_https:
        app.add_middleware(StrictTransport)
    app.add_middleware(Unfinished)
    app.add_middleware(AccessLog, latency=latency)
    app.add_middleware(TidyPath)
    return app


def _operation_id(route: APIRoute) -> str:
    return route.name


def _limits(settings: ApiSettings) -> Callable[[Scope], int]:
    """The size limit of each path: a problem may be larger than a submission, and that than what
    holds no file."""
    upload = settings.body_limit_bytes + settings.multipart_overhead_bytes
    of_path = {
        f"{PREFIX}/boards": settings.board_body_limit_bytes,
        f"{PREFIX}/sync/archive": settings.archive_limit_bytes,
        "/organise/sync/archive/plan": settings.archive_limit_bytes,
        "/organise/sync/archive/apply": settings.archive_limit_bytes,
    }

    def limit_of(scope: Scope) -> int:
        if nodes.EVENTS_PATH.fullmatch(scope["path"].removeprefix(PREFIX)):
            return nodes.MAX_BATCH_BYTES
        usual = upload if _holds_a_file(scope) else settings.text_limit_bytes
        return of_path.get(scope["path"], usual)

    return limit_of


def _holds_a_file(scope: Scope) -> bool:
    """Whether it is a form that may: its body is larger than the file in it, on every path."""
    content_type: bytes = dict(scope["headers"]).get(b"content-type", b"")
    return content_type.lower().startswith(b"multipart/form-data")


def _latency() -> Histogram:
    return Histogram(
        "kernelbot_http_request_seconds",
        "Time to answer a request, by route.",
        ("method", "route", "status"),
        registry=None,
        buckets=(0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10),
    )
