"""The account page: identities, tokens, and deleting the account."""

from typing import Annotated

from fastapi import APIRouter, Depends, Form, Request, Response

from kernelbot.accounts.logins.pages import provider_origins, to_provider
from kernelbot.accounts.logins.service import Linking
from kernelbot.accounts.model import AuthorPage
from kernelbot.accounts.tokens.model import TokenKind
from kernelbot.api.attempts import counted
from kernelbot.api.dependencies import ServicesDep, SettingsDep
from kernelbot.domain.errors import UserError
from kernelbot.domain.ids import BIGINT_MAX
from kernelbot.platform.distribution import install_command
from kernelbot.web import session as sessions
from kernelbot.web.pages import PageDep, go
from kernelbot.web.paths import login_path
from kernelbot.web.session import ACCOUNT, MaybeSession, PostedSession

router = APIRouter(prefix="/auth", include_in_schema=False)

Typed = Annotated[str, Form(max_length=200)]


@router.get("/account")
async def show_account(services: ServicesDep, session: MaybeSession, page: PageDep) -> Response:
    if session is None:
        return go(login_path(ACCOUNT))
    identities = await services.users.identities(session.user)
    listed = await services.tokens.list_tokens(session.user)
    linked = {identity.provider for identity in identities}
    return page(
        "account.html",
        identities=identities,
        author_page=await services.users.author_page(session.user),
        tokens=[one for one in listed if one.kind is TokenKind.TOKEN],
        browsers=[one for one in listed if one.kind is TokenKind.SESSION],
        unlinked=[one for one in services.logins.providers() if one.name not in linked],
        form_targets=provider_origins(services),
    )


@router.post("/token", dependencies=[Depends(counted)])
async def make_token(
    request: Request,
    services: ServicesDep,
    settings: SettingsDep,
    session: PostedSession,
    page: PageDep,
    name: Typed = "",
) -> Response:
    """Create a token, shown only now."""
    issued = await services.tokens.create(session.user, name, made_with=session.credential)
    base_url = settings.base_url(request)
    return page(
        "new_token.html", issued=issued, base_url=base_url, install=install_command(base_url)
    )


@router.post("/link/{provider}", dependencies=[Depends(counted)])
async def link(
    request: Request,
    services: ServicesDep,
    settings: SettingsDep,
    session: PostedSession,
    provider: str,
) -> Response:
    """Add an identity to the account that is logged in here."""
    linking = Linking(session.user, session.credential)
    return await to_provider(request, services, settings, provider, ACCOUNT, linking=linking)


@router.post("/unlink")
async def unlink(
    services: ServicesDep, session: PostedSession, provider: Typed = "", subject: Typed = ""
) -> Response:
    """Remove an identity from the account that is logged in here."""
    await services.users.unlink(session.user, provider, subject)
    return go(ACCOUNT)


@router.post("/revoke")
async def revoke_token(
    services: ServicesDep, session: PostedSession, token_id: Typed = ""
) -> Response:
    number = int(token_id) if token_id.isascii() and token_id.isdigit() else 0
    await services.tokens.revoke(session.user, number if number <= BIGINT_MAX else 0)
    return go(ACCOUNT)


@router.post("/author-page")
async def change_author_page(
    services: ServicesDep, session: PostedSession, private: bool = Form(default=False)
) -> Response:
    """Make the person's page as an author private, or show it to others."""
    await services.users.set_author_page(session.user, AuthorPage(private))
    return go(f"{ACCOUNT}#page")


@router.post("/delete")
async def delete_account(
    request: Request, services: ServicesDep, session: PostedSession, page: PageDep, name: Typed = ""
) -> Response:
    """Delete the account whose name was typed, if it is the one that is logged in here."""
    if name.strip().lower() != session.user.name.lower():
        raise UserError("That isn't the account's name.", hint="Nothing was deleted.")
    await services.deletion.delete_user(session.user, session.user.id, force=True)
    page.session = None
    response = page("deleted.html", deleted_name=session.user.name)
    sessions.forget_session(request, response)
    return response
