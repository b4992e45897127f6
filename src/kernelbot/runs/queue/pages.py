"""The queue: devices with their launchers' health, and pausing the platform."""

from fastapi import APIRouter, Depends, Response

from kernelbot.api.dependencies import ServicesDep
from kernelbot.web.organisers import HOME, Done, Reason, organiser
from kernelbot.web.pages import PageDep, go
from kernelbot.web.session import PostedSession

router = APIRouter(prefix=f"{HOME}/queue", include_in_schema=False)


@router.get("", dependencies=[Depends(organiser)])
async def show_queue(services: ServicesDep, page: PageDep, done: Done = "") -> Response:
    """Devices, what waits for them, and whether submissions are accepted."""
    return page(
        "organise/queue.html",
        tab="queue",
        done=done,
        devices=await services.devices.list_devices(with_hardware=True),
        platform=await services.platform.state(),
    )


@router.post("/pause")
async def pause(services: ServicesDep, session: PostedSession, reason: Reason = "") -> Response:
    """Accept no more submissions."""
    await services.platform.pause(session.user, reason)
    return go(f"{HOME}/queue?done=paused")


@router.post("/resume")
async def resume(services: ServicesDep, session: PostedSession) -> Response:
    """Accept submissions again."""
    await services.platform.resume(session.user)
    return go(f"{HOME}/queue?done=resumed")
