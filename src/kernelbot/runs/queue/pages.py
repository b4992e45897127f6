"""The queue: devices with their launchers' health, and pausing the platform."""

from fastapi import APIRouter, Response

from kernelbot.web.organisers import HOME, Done, OrganiserPage, Reason
from kernelbot.web.pages import PostedPage, go

router = APIRouter(prefix=f"{HOME}/queue", include_in_schema=False)


@router.get("")
async def show_queue(page: OrganiserPage, done: Done = "") -> Response:
    """Devices, what waits for them, and whether submissions are accepted."""
    return page(
        "organise/queue.html",
        tab="queue",
        done=done,
        devices=await page.services.devices.list_devices(with_hardware=True),
        platform=await page.services.platform.state(),
    )


@router.post("/pause")
async def pause(page: PostedPage, reason: Reason = "") -> Response:
    await page.services.platform.pause(page.user, reason)
    return go(f"{HOME}/queue?done=paused")


@router.post("/resume")
async def resume(page: PostedPage) -> Response:
    await page.services.platform.resume(page.user)
    return go(f"{HOME}/queue?done=resumed")
