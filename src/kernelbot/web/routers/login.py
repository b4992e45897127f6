"""Logging in: with a provider, with a token, and letting a terminal in."""

from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Cookie, Depends, Form, Query, Request, Response

from kernelbot.api.attempts import counted
from kernelbot.api.dependencies import ServicesDep, SettingsDep
from kernelbot.api.settings import ApiSettings
from kernelbot.domain.errors import UserError
from kernelbot.domain.types import User
from kernelbot.services import Services
from kernelbot.services.logins import Return, Start
from kernelbot.web import session as sessions
from kernelbot.web.pages import PageDep, go
from kernelbot.web.paths import login_path
from kernelbot.web.session import ACCOUNT, MaybeSession, PostedSession

router = APIRouter(prefix="/auth", include_in_schema=False)

Short = Annotated[str, Query(max_length=1000)]
BrowserSecret = Annotated[str, Cookie(alias=sessions.BROWSER)]


@router.get("/login")
async def show_login(
    request: Request,
    services: ServicesDep,
    settings: SettingsDep,
    page: PageDep,
    next: Short = ACCOUNT,  # noqa: A002  # the query's name
    secret: BrowserSecret = "",
) -> Response:
    """The login page; a browser that is logged in is redirected."""
    target = sessions.local_path(next)
    if page.session is not None:
        return go(target)
    secret = secret or sessions.new_secret()
    logins = services.logins
    response = page(
        "login.html",
        providers=logins.providers(),
        registration=logins.registration,
        next=target,
        csrf=sessions.csrf_of(secret),
        form_targets=provider_origins(services),
    )
    sessions.keep_browser(response, secret, secure=sessions.is_secure(request, settings))
    return response


@router.post("/login", dependencies=[Depends(counted)])
async def log_in_with_token(
    request: Request,
    services: ServicesDep,
    settings: SettingsDep,
    token: Annotated[str, Form(max_length=1000)] = "",
    csrf: Annotated[str, Form(max_length=100)] = "",
    next: Annotated[str, Form(max_length=1000)] = ACCOUNT,  # noqa: A002  # the form's name
    secret: BrowserSecret = "",
) -> Response:
    """Log in the owner of a token. The form is from a page of ours in this browser, so that no
    other site can log somebody in as someone else."""
    sessions.check_csrf(csrf, sessions.csrf_of(secret))
    login = await services.logins.open_with(token.strip())
    response = go(sessions.local_path(next))
    secure = sessions.is_secure(request, settings)
    sessions.keep_session(response, login.token, secure=secure)
    response.delete_cookie(sessions.BROWSER, path="/auth")
    return response


@router.get("/start/{provider}", dependencies=[Depends(counted)])
async def start_login(
    request: Request,
    services: ServicesDep,
    settings: SettingsDep,
    provider: str,
    next: Short = ACCOUNT,  # noqa: A002  # as above
    invite: Short = "",
) -> Response:
    """Send the browser to the provider, with a secret of its own to come back with."""
    return await to_provider(
        request, services, settings, provider, sessions.local_path(next), invite=invite.strip()
    )


async def to_provider(
    request: Request,
    services: Services,
    settings: ApiSettings,
    provider: str,
    next_path: str,
    *,
    invite: str = "",
    linking: User | None = None,
) -> Response:
    """Begin a login in this browser, or with `linking` the linking of an identity."""
    secret = sessions.new_secret()
    url = await services.logins.begin(
        Start(
            provider,
            secret,
            f"{settings.base_url(request)}/auth/cli/{provider}",
            next_path,
            invite=invite or None,
            linking=linking,
        )
    )
    response = go(url)
    sessions.keep_browser(response, secret, secure=sessions.is_secure(request, settings))
    return response


@router.get("/cli/{provider}")
async def finish_login(
    request: Request,
    services: ServicesDep,
    settings: SettingsDep,
    session: MaybeSession,
    provider: str,
    code: Short = "",
    state: Short = "",
    error: Short = "",
    secret: BrowserSecret = "",
) -> Response:
    """Where the provider sends the browser back to. Only the browser in which the login began
    holds the secret for it: a link that someone else made logs nobody in and links nothing."""
    if error or not code or not state:
        raise UserError("The login was not completed.", hint="Log in again.")
    current = session.user if session else None
    finished = await services.logins.finish(Return(provider, secret, state, code, current))
    response = go(finished.next_path)
    secure = sessions.is_secure(request, settings)
    sessions.keep_session(response, finished.login.token, secure=secure)
    response.delete_cookie(sessions.BROWSER, path="/auth")
    return response


@router.post("/logout")
async def log_out(services: ServicesDep, session: PostedSession) -> Response:
    """End this browser's session and revoke its token."""
    await services.users.sign_out(session.token)
    response = go("/")
    response.delete_cookie(sessions.SESSION, path="/")
    return response


@router.get("/device")
async def show_device(page: PageDep, provider: Short = "", invite: Short = "") -> Response:
    """The page to type a terminal's code in."""
    if page.session is not None:
        return page("device.html", done=False)
    if provider in ("discord", "github"):
        query = {"next": "/auth/device"} | ({"invite": invite} if invite else {})
        return go(f"/auth/start/{provider}?{urlencode(query, safe='/')}")
    return go(login_path("/auth/device"))


@router.post("/device", dependencies=[Depends(counted)])
async def approve_device(
    services: ServicesDep,
    session: PostedSession,
    page: PageDep,
    code: Annotated[str, Form(max_length=100)] = "",
) -> Response:
    """Log the terminal with this code in as the account that is logged in here."""
    await services.logins.approve_device(session.user, code)
    return page("device.html", done=True)


def provider_origins(services: Services) -> str:
    """Where a form that begins a login may lead: browsers check redirects too."""
    origins = ("/".join(one.authorize_url.split("/")[:3]) for one in services.logins.providers())
    return " ".join(dict.fromkeys(origins))
