"""Who gets to these pages at all. What they may do there, the services decide for each."""

from typing import Annotated

from fastapi import Depends, Form, Query, Request

from kernelbot.accounts.model import User
from kernelbot.accounts.permissions import require_admin, require_creator
from kernelbot.api.dependencies import AllowedFirst
from kernelbot.schemas.common import NAME_MAX
from kernelbot.web.pages import OwnPage, PersonPage
from kernelbot.web.session import maybe_session, session_needed

HOME = "/organise"

Done = Annotated[str, Query(max_length=20)]
"""What was done just before, as `organise/base.html` says it."""
Word = Annotated[str, Query(max_length=NAME_MAX)]
Typed = Annotated[str, Form(max_length=NAME_MAX)]
Reason = Annotated[str, Form(max_length=10_000)]


async def organiser_page(page: PersonPage) -> OwnPage:
    """What answers somebody who may create boards. Raises `NotAuthenticated`, `NotAllowed`."""
    require_creator(page.user)
    return page


async def admin_page(page: PersonPage) -> OwnPage:
    """What answers an admin. Raises `NotAuthenticated`, `NotAllowed`."""
    require_admin(page.user)
    return page


OrganiserPage = Annotated[OwnPage, Depends(organiser_page)]
AdminPage = Annotated[OwnPage, Depends(admin_page)]


class AdminBrowsersFirst(AllowedFirst):
    """A form with a large file, which is read from an admin's browser only."""

    require = staticmethod(require_admin)

    @staticmethod
    async def who(request: Request) -> User:
        """Whose browser it is. Raises `NotAuthenticated`."""
        return (await session_needed(await maybe_session(request))).user


def filled(text: str) -> str | None:
    """What was typed into a field; None if it was left empty, or can't be anybody's name."""
    text = text.strip()
    return text if text and "\x00" not in text else None
