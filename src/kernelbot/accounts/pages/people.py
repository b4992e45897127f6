"""People: finding an account, its name and role, bans, deleting it. For admins."""

from typing import Annotated

from fastapi import APIRouter, Form, Query, Request, Response

from kernelbot.accounts.model import Role
from kernelbot.api.dependencies import SettingsDep, UserId
from kernelbot.domain.errors import UserError
from kernelbot.domain.ids import BIGINT_MAX
from kernelbot.web.organisers import HOME, AdminPage, Done, Reason, Typed, Word, filled
from kernelbot.web.pages import PostedPage, go

router = APIRouter(prefix=f"{HOME}/people", include_in_schema=False)

ROWS = 50


@router.get("")
async def list_people(
    page: AdminPage,
    search: Word = "",
    after: Annotated[int, Query(ge=0, le=BIGINT_MAX)] = 0,
    done: Done = "",
) -> Response:
    """Accounts in the order of their numbers, those whose name contains what is searched."""
    found = await page.services.users.list_users(
        page.user, search=filled(search), limit=ROWS + 1, after_id=after
    )
    return page(
        "organise/people.html",
        tab="people",
        done=done,
        people=found[:ROWS],
        search=filled(search) or "",
        roles=tuple(Role),
        after=after,
        next_after=found[ROWS - 1].id if len(found) > ROWS else None,
    )


@router.post("")
async def create_account(
    request: Request,
    page: PostedPage,
    settings: SettingsDep,
    name: Typed = "",
    role: Annotated[Role, Form()] = Role.COMPETITOR,
) -> Response:
    """Create an account with its first token, shown only now."""
    made = await page.services.users.create(name.strip(), role, actor=page.user)
    return page(
        "organise/new_person.html", tab="people", made=made, base_url=settings.base_url(request)
    )


@router.get("/{user_id}")
async def show_person(page: AdminPage, user_id: UserId, done: Done = "") -> Response:
    """An account, its role, and whether it is banned."""
    person = await page.services.users.get(page.user, user_id)
    entries = await page.services.audit.list_entries(page.user, subject=f"user:{user_id}", limit=20)
    return page(
        "organise/person.html",
        tab="people",
        done=done,
        person=person,
        roles=tuple(Role),
        entries=entries,
    )


@router.post("/{user_id}/role")
async def set_role(page: PostedPage, user_id: UserId, role: Annotated[Role, Form()]) -> Response:
    """Change someone else's role."""
    await page.services.users.set_role(page.user, user_id, role)
    return _changed(user_id, "role")


@router.post("/{user_id}/ban")
async def ban(page: PostedPage, user_id: UserId, reason: Reason = "") -> Response:
    """Ban someone from submitting and from every ranking."""
    await page.services.users.ban(page.user, user_id, reason)
    return _changed(user_id, "banned")


@router.post("/{user_id}/unban")
async def unban(page: PostedPage, user_id: UserId, reason: Reason = "") -> Response:
    await page.services.users.unban(page.user, user_id, reason)
    return _changed(user_id, "unbanned")


@router.post("/{user_id}/rename")
async def rename(page: PostedPage, user_id: UserId, name: Typed = "") -> Response:
    await page.services.users.rename(page.user, user_id, name.strip())
    return _changed(user_id, "renamed")


@router.post("/{user_id}/delete")
async def delete_account(page: PostedPage, user_id: UserId, name: Typed = "") -> Response:
    """Delete someone else's account with its submissions, if its name was typed."""
    person = await page.services.users.get(page.user, user_id)
    if name.strip().lower() != person.name.lower():
        raise UserError("That isn't the account's name.", hint="Nothing was deleted.")
    await page.services.deletion.delete_user(page.user, user_id, force=True)
    return go(f"{HOME}/people?done=forgotten")


def _changed(user_id: int, done: str) -> Response:
    return go(f"{HOME}/people/{user_id}?done={done}")
