"""People: finding an account, its name and role, bans, deleting it. For admins."""

from typing import Annotated

from fastapi import APIRouter, Form, Query, Request, Response

from kernelbot.accounts.model import Role
from kernelbot.api.dependencies import ServicesDep, SettingsDep, UserId
from kernelbot.domain.errors import UserError
from kernelbot.domain.ids import BIGINT_MAX
from kernelbot.web.organisers import HOME, Admin, Done, Reason, Typed, Word, filled
from kernelbot.web.pages import PageDep, go
from kernelbot.web.session import PostedSession

router = APIRouter(prefix=f"{HOME}/people", include_in_schema=False)

ROWS = 50


@router.get("")
async def list_people(
    services: ServicesDep,
    session: Admin,
    page: PageDep,
    search: Word = "",
    after: Annotated[int, Query(ge=0, le=BIGINT_MAX)] = 0,
    done: Done = "",
) -> Response:
    """Accounts in the order of their numbers, those whose name contains what is searched."""
    found = await services.users.list_users(
        session.user, search=filled(search), limit=ROWS + 1, after_id=after
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
    services: ServicesDep,
    settings: SettingsDep,
    session: PostedSession,
    page: PageDep,
    name: Typed = "",
    role: Annotated[Role, Form()] = Role.COMPETITOR,
) -> Response:
    """Create an account with its first token, shown only now."""
    made = await services.users.create(name.strip(), role, actor=session.user)
    return page(
        "organise/new_person.html", tab="people", made=made, base_url=settings.base_url(request)
    )


@router.get("/{user_id}")
async def show_person(
    services: ServicesDep, session: Admin, page: PageDep, user_id: UserId, done: Done = ""
) -> Response:
    """An account, its role, and whether it is banned."""
    person = await services.users.get(session.user, user_id)
    entries = await services.audit.list_entries(session.user, subject=f"user:{user_id}", limit=20)
    return page(
        "organise/person.html",
        tab="people",
        done=done,
        person=person,
        roles=tuple(Role),
        entries=entries,
    )


@router.post("/{user_id}/role")
async def set_role(
    services: ServicesDep, session: PostedSession, user_id: UserId, role: Annotated[Role, Form()]
) -> Response:
    """Change someone else's role."""
    await services.users.set_role(session.user, user_id, role)
    return _changed(user_id, "role")


@router.post("/{user_id}/ban")
async def ban(
    services: ServicesDep, session: PostedSession, user_id: UserId, reason: Reason = ""
) -> Response:
    """Ban someone from submitting and from every ranking."""
    await services.users.ban(session.user, user_id, reason)
    return _changed(user_id, "banned")


@router.post("/{user_id}/unban")
async def unban(
    services: ServicesDep, session: PostedSession, user_id: UserId, reason: Reason = ""
) -> Response:
    """End a ban."""
    await services.users.unban(session.user, user_id, reason)
    return _changed(user_id, "unbanned")


@router.post("/{user_id}/rename")
async def rename(
    services: ServicesDep, session: PostedSession, user_id: UserId, name: Typed = ""
) -> Response:
    """Give an account another name."""
    await services.users.rename(session.user, user_id, name.strip())
    return _changed(user_id, "renamed")


@router.post("/{user_id}/delete")
async def delete_account(
    services: ServicesDep, session: PostedSession, user_id: UserId, name: Typed = ""
) -> Response:
    """Delete someone else's account with its submissions, if its name was typed."""
    person = await services.users.get(session.user, user_id)
    if name.strip().lower() != person.name.lower():
        raise UserError("That isn't the account's name.", hint="Nothing was deleted.")
    await services.deletion.delete_user(session.user, user_id, force=True)
    return go(f"{HOME}/people?done=forgotten")


def _changed(user_id: int, done: str) -> Response:
    return go(f"{HOME}/people/{user_id}?done={done}")
