"""The account page: identities, tokens, and deleting the account."""

from typing import Annotated

from fastapi import APIRouter, Depends, Form, Request, Response

from kernelbot.accounts.logins.pages import provider_origins, to_provider
from kernelbot.accounts.logins.service import Linking
from kernelbot.accounts.model import AuthorPage
from kernelbot.accounts.tokens.model import TokenKind
from kernelbot.api.attempts import counted
from kernelbot.api.dependencies import SettingsDep
from kernelbot.domain.errors import UserError
from kernelbot.domain.ids import BIGINT_MAX
from kernelbot.platform.distribution import install_command
from kernelbot.web import session as sessions
from kernelbot.web.pages import PageDep, PostedPage, go
from kernelbot.web.paths import login_path
from kernelbot.web.session import ACCOUNT, PostedSession

router = APIRouter(prefix="/auth", include_in_schema=False)

Typed = Annotated[str, Form(max_length=200)]


@router.get("/account")
async def show_account(page: PageDep) -> Response:
    if page.session is None:
        return go(login_path(ACCOUNT))
    identities = await page.services.users.identities(page.session.user)
    listed = await page.services.tokens.list_tokens(page.session.user)
    linked = {identity.provider for identity in identities}
    return page(
        "account.html",
        identities=identities,
        author_page=await page.services.users.author_page(page.session.user),
        tokens=[one for one in listed if one.kind is TokenKind.TOKEN],
        browsers=[one for one in listed if one.kind is TokenKind.SESSION],
        unlinked=[one for one in page.services.logins.providers() if one.name not in linked],
        form_targets=provider_origins(page.services),
    )


@router.post("/token", dependencies=[Depends(counted)])
async def make_token(
    request: Request, page: PostedPage, settings: SettingsDep, name: Typed = ""
) -> Response:
    """Create a token, shown only now."""
    issued = await page.services.tokens.create(page.user, name, made_with=page.session.credential)
    base_url = settings.base_url(request)
    return page(
        "new_token.html", issued=issued, base_url=base_url, install=install_command(base_url)
    )


@router.post("/link/{provider}", dependencies=[Depends(counted)])
async def link(
    request: Request, page: PostedPage, settings: SettingsDep, provider: str
) -> Response:
    """Add an identity to the account that is logged in here."""
    linking = Linking(page.user, page.session.credential)
    return await to_provider(request, page.services, settings, provider, ACCOUNT, linking=linking)


@router.post("/unlink")
async def unlink(page: PostedPage, provider: Typed = "", subject: Typed = "") -> Response:
    """Remove an identity from the account that is logged in here."""
    await page.services.users.unlink(page.user, provider, subject)
    return go(ACCOUNT)


@router.post("/revoke")
async def revoke_token(page: PostedPage, token_id: Typed = "") -> Response:
    number = int(token_id) if token_id.isascii() and token_id.isdigit() else 0
    await page.services.tokens.revoke(page.user, number if number <= BIGINT_MAX else 0)
    return go(ACCOUNT)


@router.post("/author-page")
async def change_author_page(page: PostedPage, private: bool = Form(default=False)) -> Response:
    """Make the person's page as an author private, or show it to others."""
    await page.services.users.set_author_page(page.user, AuthorPage(private))
    return go(f"{ACCOUNT}#page")


@router.post("/delete")
async def delete_account(
    request: Request, session: PostedSession, page: PageDep, name: Typed = ""
) -> Response:
    """Delete the account whose name was typed, if it is the one that is logged in here."""
    if name.strip().lower() != session.user.name.lower():
        raise UserError("That isn't the account's name.", hint="Nothing was deleted.")
    await page.services.deletion.delete_user(session.user, session.user.id, force=True)
    page.session = None
    response = page("deleted.html", deleted_name=session.user.name)
    sessions.forget_session(request, response)
    return response
