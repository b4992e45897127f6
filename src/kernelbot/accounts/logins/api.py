"""Logging in from a terminal: begin, then poll until someone has approved in a browser."""

from fastapi import APIRouter, Depends, Request

from kernelbot.accounts.logins.answers import DeviceLoginView, DevicePollView, LoginLink
from kernelbot.accounts.logins.schemas import DevicePoll
from kernelbot.accounts.logins.service import LINK_LASTS_S, link_path
from kernelbot.api.attempts import counted
from kernelbot.api.dependencies import ServicesDep, SettingsDep, Shown, Viewer
from kernelbot.api.errors import documented

router = APIRouter(prefix="/device-logins", tags=["logins"])
links = APIRouter(prefix="/login-links", tags=["logins"])


@router.post(
    "", status_code=201, responses=documented(404, 429, 503), dependencies=[Depends(counted)]
)
async def begin_device_login(
    request: Request, services: ServicesDep, settings: SettingsDep
) -> DeviceLoginView:
    """Begin. The person who types the code in a logged-in browser logs the terminal in as them."""
    begun = await services.logins.begin_device()
    return DeviceLoginView(
        device_code=begun.device_code,
        user_code=begun.user_code,
        verification_url=f"{settings.base_url(request)}/auth/device",
        expires_in_s=begun.expires_in_s,
        interval_s=begun.interval_s,
    )


@router.post("/poll", responses=documented(400, 404, 409, 413, 422, 429, 503))
async def poll_device_login(services: ServicesDep, body: DevicePoll) -> DevicePollView:
    """Whether somebody has approved. The token is sent once. A client that polls too often must
    wait as long as `Retry-After` says from then on."""
    found = await services.logins.poll_device(body.device_code)
    return DevicePollView(login=None if found is None else found.account)


@links.post(
    "", status_code=201, responses=documented(401, 403, 429, 503), dependencies=[Depends(counted)]
)
async def make_login_link(
    request: Request,
    services: ServicesDep,
    settings: SettingsDep,
    viewer: Viewer,
    credential: Shown,
) -> LoginLink:
    """A link that logs one browser in as the asker. What it opens ends with the asker's token."""
    secret = await services.logins.make_link(viewer, credential)
    base = settings.base_url(request)
    return LoginLink(url=f"{base}{link_path(secret)}", expires_in_s=LINK_LASTS_S)
