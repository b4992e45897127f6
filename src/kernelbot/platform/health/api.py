"""The server itself: devices, health, readiness, metrics."""

from fastapi import APIRouter, Request, Response
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from kernelbot import __version__
from kernelbot.api.dependencies import PUBLIC, MaybeViewer, ServicesDep
from kernelbot.api.errors import documented
from kernelbot.platform.health.schemas import HealthView, ReadyView
from kernelbot.runs.devices.schemas import DeviceList

devices = APIRouter(prefix="/devices", tags=["devices"])
probes = APIRouter(tags=["probes"])


@devices.get("", responses=documented(401, 503), openapi_extra=PUBLIC)
async def list_devices(services: ServicesDep, _viewer: MaybeViewer) -> DeviceList:
    """Every configured device: its launchers' health, the lengths of its queues, the machine that
    was seen last."""
    return DeviceList(devices=await services.devices.list_devices(with_hardware=True))


@probes.get("/health")
async def health() -> HealthView:
    """The process answers; nothing else is asked."""
    return HealthView(status="ok", version=__version__)


@probes.get("/ready", responses={503: {"model": ReadyView, "description": "Not ready"}})
async def ready(services: ServicesDep, response: Response) -> ReadyView:
    """Whether requests are answered and submissions taken: 200 if the database is there with the
    right schema, else 503. Each part has a note, those of judging too."""
    view = ReadyView.from_domain(await services.health.ready())
    response.status_code = 200 if view.ready else 503
    return view


@probes.get("/ready/judging", responses={503: {"model": ReadyView, "description": "Not judging"}})
async def ready_to_judge(services: ServicesDep, response: Response) -> ReadyView:
    """Whether submissions are judged: 200 if there are workers and at least one device as
    well, else 503. What is away is named in any case."""
    view = ReadyView.from_domain(await services.health.ready())
    response.status_code = 200 if view.judging else 503
    return view


@probes.get("/metrics", response_class=Response, responses={200: {"content": {"text/plain": {}}}})
async def metrics(request: Request) -> Response:
    """Metrics in Prometheus' text format."""
    text = generate_latest(request.app.state.registry)
    return Response(text, media_type=CONTENT_TYPE_LATEST)
