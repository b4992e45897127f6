"""Logging in: with a provider, with a token, and letting a terminal in."""

from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Form, Query, Request, Response

from kernelbot.accounts.logins.service import Linking, LoginStart, Return
from kernelbot.accounts.model import NewToken
from kernelbot.api.attempts import counted
from kernelbot.api.dependencies import ServicesDep, SettingsDep, owner_of, wrong_tokens_counted
from kernelbot.api.settings import ApiSettings
from kernelbot.domain.errors import UserError
from kernelbot.domain.next_steps import Next
from kernelbot.services import Services
from kernelbot.web import session as sessions
from kernelbot.web.pages import PageDep, PostedPage, go
from kernelbot.web.paths import login_path
from kernelbot.web.session import ACCOUNT, BrowserSession, MaybeSession

router = APIRouter(prefix="/auth", include_in_schema=False)
guessed = APIRouter(include_in_schema=False)
"""Addresses that people type because other sites have them."""

Short = Annotated[str, Query(max_length=1000)]


@guessed.get("/login")
async def guess_login() -> Response:
    return go(login_path(ACCOUNT))


@router.get("/login")
async def show_login(
    request: Request,
    page: PageDep,
    next: Short = ACCOUNT,  # noqa: A002  # the query's name
) -> Response:
    target = sessions.local_path(next)
    if page.session is not None:
        return go(target)
    logins = page.services.logins
    return _form(
        request,
        page,
        "login.html",
        providers=logins.providers(),
        registration=logins.registration,
        next=target,
        form_targets=provider_origins(page.services),
    )


@router.post("/login", dependencies=[Depends(counted)])
async def log_in_with_token(
    request: Request,
    services: ServicesDep,
    settings: SettingsDep,
    session: MaybeSession,
    token: Annotated[str, Form(max_length=1000)] = "",
    csrf: Annotated[str, Form(max_length=100)] = "",
    next: Annotated[str, Form(max_length=1000)] = ACCOUNT,  # noqa: A002  # the form's name
) -> Response:
    """Log in the owner of a token, or with ADMIN_TOKEN the organiser. The form is from a page of
    ours in this browser, so that no other site can log somebody in as someone else."""
    sessions.check_csrf(csrf, sessions.browser_secret(request))
    organisers = settings.admin_credential(token.encode("utf-8", "replace"))
    if organisers is not None:
        login = await services.logins.open_for_organiser(
            await owner_of(request, organisers), organisers
        )
    else:
        with wrong_tokens_counted(request):
            login = await services.logins.open_with(token.strip())
    return await _logged_in(request, services, session, login, sessions.local_path(next))


async def _logged_in(
    request: Request, services: Services, before: BrowserSession | None, login: NewToken, path: str
) -> Response:
    """The answer that logs the browser in; the session that it had `before` ends."""
    if before is not None:
        await services.users.sign_out(before.token)
    response = go(path)
    sessions.keep_session(request, response, login.token)
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
        request,
        services,
        settings,
        provider,
        sessions.local_path(next),
        invite=invite.replace("\0", ""),
    )


async def to_provider(
    request: Request,
    services: Services,
    settings: ApiSettings,
    provider: str,
    next_path: str,
    *,
    invite: str = "",
    linking: Linking | None = None,
) -> Response:
    """Begin a login in this browser, or with `linking` the linking of an identity."""
    secret = sessions.browser_secret(request) or sessions.new_secret()
    url = await services.logins.begin(
        LoginStart(
            provider,
            secret,
            f"{settings.base_url(request)}/auth/cli/{provider}",
            next_path,
            invite=invite or None,
            linking=linking,
        )
    )
    response = go(url)
    sessions.keep_browser(request, response, secret)
    return response


@router.get("/cli/{provider}")
async def finish_login(
    request: Request,
    services: ServicesDep,
    session: MaybeSession,
    provider: str,
    code: Short = "",
    state: Short = "",
    error: Short = "",
    error_description: Short = "",
) -> Response:
    """Where the provider sends the browser back to. Only the browser in which the login began
    holds the secret for it: a link that someone else made logs nobody in and links nothing."""
    if error:
        raise services.logins.refused(provider, error, error_description)
    if not code or not state:
        raise UserError("The login was not completed.", next_step=Next.LOG_IN)
    current = session.user if session else None
    secret = sessions.browser_secret(request)
    finished = await services.logins.finish(Return(provider, secret, state, code, current))
    return await _logged_in(request, services, session, finished.login, finished.next_path)


@router.get("/open", dependencies=[Depends(counted)])
async def show_link(request: Request, page: PageDep, link: Short = "") -> Response:
    """Whom a link would log in. Nobody is logged in without a click: somebody else may have sent
    the link, and a mail program may look at it."""
    owner = await page.services.logins.link_owner(link)
    return _form(request, page, "open.html", owner=owner, link=link)


def _form(request: Request, page: PageDep, template: str, **values: Any) -> Response:
    """A form for whom isn't logged in: this browser alone can send it."""
    secret = sessions.browser_secret(request) or sessions.new_secret()
    response = page(template, csrf=sessions.csrf_of(secret), **values)
    sessions.keep_browser(request, response, secret)
    return response


@router.post("/open", dependencies=[Depends(counted)])
async def log_in_with_link(
    request: Request,
    services: ServicesDep,
    session: MaybeSession,
    link: Annotated[str, Form(max_length=1000)] = "",
    csrf: Annotated[str, Form(max_length=100)] = "",
) -> Response:
    """Log this browser in as the link's owner; the link can't be used again."""
    sessions.check_csrf(csrf, sessions.browser_secret(request))
    login = await services.logins.open_link(link)
    return await _logged_in(request, services, session, login, "/")


@router.post("/logout")
async def log_out(request: Request, page: PostedPage) -> Response:
    """End this browser's session."""
    await page.services.users.sign_out(page.session.token)
    response = go("/")
    sessions.forget_session(request, response)
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
    page: PostedPage, code: Annotated[str, Form(max_length=100)] = ""
) -> Response:
    """Log the terminal with this code in as the account that is logged in here."""
    await page.services.logins.approve_device(page.user, code, page.session.credential)
    return page("device.html", done=True)


def provider_origins(services: Services) -> str:
    """Where a form that begins a login may lead: browsers check redirects too."""
    origins = ("/".join(one.authorize_url.split("/")[:3]) for one in services.logins.providers())
    return " ".join(dict.fromkeys(origins))
