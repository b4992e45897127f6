"""What schedulers' nodes ask for, by the links that their launchers gave them. A link's signature
is all that it takes: nodes have no account, and whose token is sent along doesn't matter."""

import re
from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query, Request, Response

from kernelbot.api.dependencies import ServicesDep
from kernelbot.api.errors import documented
from kernelbot.domain.ids import BIGINT_MAX
from kernelbot.runs.nodes.schemas import EventsReceived, read_events
from kernelbot.runs.nodes.signed_links import Signed

router = APIRouter(tags=["nodes"])

MAX_BATCH_BYTES = 256 << 10
EVENTS_PATH = re.compile(r"/jobs/[^/]+/events")
_NOT_KEPT = {"Cache-Control": "no-store"}
_KEPT_FOR_EVER = {
    "Cache-Control": "public, max-age=31536000, immutable",
    "X-Content-Type-Options": "nosniff",
}
_TEXT = {"text/plain": {"schema": {"type": "string"}}}
_FILE = {"application/zip": {"schema": {"type": "string", "format": "binary"}}}
_LINES = {"text/plain": {"schema": {"type": "string"}}}


def _link(
    job_id: Annotated[str, Path(max_length=64, pattern=r"^[A-Za-z0-9][A-Za-z0-9.-]*$")],
    expires: Annotated[int, Query(ge=0, le=BIGINT_MAX, description="Seconds since 1970.")],
    signature: Annotated[str, Query(max_length=128, pattern=r"^[\x20-\x7e]*$")],
) -> Signed:
    return Signed(job_id, expires, signature)


Link = Annotated[Signed, Depends(_link)]


@router.get(
    "/jobs/{job_id}/payload",
    response_class=Response,
    responses={200: {"content": _TEXT}, **documented(403, 410, 422, 503)},
)
async def download_job(services: ServicesDep, link: Link) -> Response:
    """The payload of a job that is open. A launcher makes the address; it is a secret."""
    payload = await services.node_jobs.payload(link)
    return Response(payload, media_type="text/plain", headers=_NOT_KEPT)


@router.post(
    "/jobs/{job_id}/events",
    responses=documented(400, 403, 410, 413, 422, 503),
    openapi_extra={"requestBody": {"content": _LINES, "required": True}},
)
async def receive_progress(
    request: Request,
    services: ServicesDep,
    link: Link,
    first: Annotated[
        int, Query(ge=0, le=BIGINT_MAX, description="Which event of the job the first line is.")
    ] = 0,
) -> EventsReceived:
    """Progress of a job that is open, a JSON object per line, for those who follow its submission.
    Events that came before are passed over, so a batch may be sent again."""
    events = read_events(await request.body())
    return EventsReceived(received=await services.node_jobs.progressed(link, first, events))


@router.get(
    "/harness/{sha256}",
    response_class=Response,
    responses={200: {"content": _FILE}, **documented(404, 422)},
)
async def download_harness(
    services: ServicesDep, sha256: Annotated[str, Path(pattern=r"^[0-9a-f]{64}$")]
) -> Response:
    """The harness with this SHA-256, a zipapp. It never changes, so it can be cached for ever."""
    found = await services.downloads.harness(sha256)
    return Response(found.content, media_type="application/zip", headers=_KEPT_FOR_EVER)
