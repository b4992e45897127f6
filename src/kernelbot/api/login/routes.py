"""The pages' routes. Nothing here is part of the API; it is for people with browsers."""

from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Cookie, Form, Query, Request, Response

from kernelbot.api.dependencies import ServicesDep, SettingsDep
from kernelbot.api.login import browser, pages
from kernelbot.api.login.browser import MaybeSession, PageRoute, PostedSession, go, html
from kernelbot.domain.errors import UserError
from kernelbot.services.logins import Return, Start

router = APIRouter(prefix="/auth", route_class=PageRoute, include_in_schema=False)

Short = Annotated[str, Query(max_length=1000)]
Typed = Annotated[str, Form(max_length=200)]


@router.get("/login")
async def show_login(
    services: ServicesDep,
    session: MaybeSession,
    next: Short = "/auth/account",  # noqa: A002  # the query's name
) -> Response:
    """The login page; a browser that is logged in is redirected."""
    target = browser.local_path(next)
    if session is not None:
        return go(target)
    logins = services.logins
    return html(pages.login(logins.providers(), logins.registration, target))


@router.get("/start/{provider}")
async def start_login(
    request: Request,
    services: ServicesDep,
    settings: SettingsDep,
    provider: str,
    next: Short = "/auth/account",  # noqa: A002  # as above
    invite: Short = "",
) -> Response:
    """Send the browser to the provider, with a secret of its own to come back with."""
    secret = browser.new_secret()
    url = await services.logins.begin(
        Start(
            provider,
            secret,
            f"{settings.base_url(request)}/auth/cli/{provider}",
            browser.local_path(next),
            invite=invite.strip() or None,
        )
    )
    response = go(url)
    browser.keep_browser(response, secret, secure=browser.is_secure(request, settings))
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
    secret: Annotated[str, Cookie(alias=browser.BROWSER)] = "",
) -> Response:
    """Where the provider sends the browser back to. Only the browser in which the login began
    holds the secret for it: a link that someone else made logs nobody in and links nothing."""
    if error or not code or not state:
        raise UserError("The login was not completed.", hint="Log in again.")
    current = session.user if session else None
    finished = await services.logins.finish(Return(provider, secret, state, code, current))
    response = go(finished.next_path)
    secure = browser.is_secure(request, settings)
    browser.keep_session(response, finished.login.token, secure=secure)
    response.delete_cookie(browser.BROWSER, path="/auth")
    return response


@router.get("/account")
async def show_account(services: ServicesDep, session: MaybeSession) -> Response:
    """The account page."""
    if session is None:
        return go(pages.login_path("/auth/account"))
    return html(
        pages.account(
            session.user,
            await services.users.identities(session.user),
            await services.tokens.list_tokens(session.user),
            services.logins.providers(),
            session.csrf,
        )
    )


@router.post("/token")
async def make_token(
    request: Request,
    services: ServicesDep,
    settings: SettingsDep,
    session: PostedSession,
    name: Typed = "",
) -> Response:
    """Create a token, shown only now."""
    issued = await services.tokens.create(session.user, name)
    return html(pages.new_token(issued.text, settings.base_url(request)))


@router.post("/link/{provider}")
async def link(
    request: Request,
    services: ServicesDep,
    settings: SettingsDep,
    session: PostedSession,
    provider: str,
) -> Response:
    """Add an identity to the account that is logged in here."""
    secret = browser.new_secret()
    url = await services.logins.begin(
        Start(
            provider,
            secret,
            f"{settings.base_url(request)}/auth/cli/{provider}",
            "/auth/account",
            linking=session.user,
        )
    )
    response = go(url)
    browser.keep_browser(response, secret, secure=browser.is_secure(request, settings))
    return response


@router.post("/unlink")
async def unlink(
    services: ServicesDep, session: PostedSession, provider: Typed = "", subject: Typed = ""
) -> Response:
    """Remove an identity from the account that is logged in here."""
    await services.users.unlink(session.user, provider, subject)
    return go("/auth/account")


@router.post("/revoke")
async def revoke_token(
    services: ServicesDep, session: PostedSession, token_id: Typed = ""
) -> Response:
    """Revoke a token."""
    number = int(token_id) if token_id.isascii() and token_id.isdigit() else 0
    await services.tokens.revoke(session.user, number)
    return go("/auth/account")


@router.post("/delete")
async def delete_account(
    services: ServicesDep, session: PostedSession, name: Typed = ""
) -> Response:
    """Delete the account whose name was typed, if it is the one that is logged in here."""
    if name.strip().lower() != session.user.name.lower():
        raise UserError("That isn't the account's name.", hint="Nothing was deleted.")
    await services.deletion.delete_user(session.user, session.user.id, force=True)
    response = html(pages.deleted(session.user.name))
    response.delete_cookie(browser.SESSION, path="/")
    return response


@router.post("/logout")
async def log_out(services: ServicesDep, session: PostedSession) -> Response:
    """End this browser's session and revoke its token."""
    await services.users.sign_out(session.token)
    response = go("/auth/login")
    response.delete_cookie(browser.SESSION, path="/")
    return response


@router.get("/device")
async def show_device(session: MaybeSession, provider: Short = "", invite: Short = "") -> Response:
    """The page to type a terminal's code in."""
    if session is not None:
        return html(pages.device(session.user, session.csrf))
    if provider in ("discord", "github"):
        query = {"next": "/auth/device"} | ({"invite": invite} if invite else {})
        return go(f"/auth/start/{provider}?{urlencode(query, safe='/')}")
    return go(pages.login_path("/auth/device"))


@router.post("/device")
async def approve_device(
    services: ServicesDep,
    session: PostedSession,
    code: Annotated[str, Form(max_length=100)] = "",
) -> Response:
    """Log the terminal with this code in as the account that is logged in here."""
    await services.logins.approve_device(session.user, code)
    return html(pages.device_done())
