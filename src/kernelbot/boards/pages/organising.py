"""The boards that somebody organises: listing, changing, ending and deleting them."""

from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Form, Response

from kernelbot.accounts.model import User
from kernelbot.api.dependencies import BoardName
from kernelbot.boards.limits.model import LimitCategory, RateLimit
from kernelbot.boards.model import Board, Visibility
from kernelbot.boards.pages.fields import deadline_field, read_deadline
from kernelbot.boards.service import BoardEdit
from kernelbot.domain.bounds import Keep
from kernelbot.domain.errors import UserError
from kernelbot.platform.service import COPY_NOTE
from kernelbot.services import Services
from kernelbot.web.organisers import HOME, Done, OrganiserPage, Typed
from kernelbot.web.pages import PostedPage, go
from kernelbot.web.paths import organised_path

router = APIRouter(prefix=HOME, include_in_schema=False)

_Shown = Annotated[bool, Form()]
"""Whether the form says, in its fields `was…`, what the page showed when it was sent."""
_FLAGS = 4
"""How many settings of a board are ticked or not."""
_DISABLED = 5
"""How many disabled webhooks are named above the boards."""


@router.get("")
async def show_boards(page: OrganiserPage, done: Done = "") -> Response:
    """The boards that the visitor organises, and what is wrong with them."""
    disabled = await page.services.webhooks.list_disabled(page.user)
    return page(
        "organise/boards.html",
        tab="boards",
        done=done,
        boards=await page.services.boards.organised(page.user),
        copy=COPY_NOTE if await page.services.platform.is_copy() else None,
        disabled=disabled[:_DISABLED],
        more_disabled=len(disabled) > _DISABLED,
    )


@router.get("/board/{board}")
async def show_board(page: OrganiserPage, board: BoardName, done: Done = "") -> Response:
    """A board's settings, and the way to all else that is done with it."""
    found = await page.services.boards.get_organised(page.user, board)
    limits = await page.services.limits.list_limits(page.user, found.name)
    return page(
        "organise/board.html",
        tab="boards",
        done=done,
        board=found,
        deadline=deadline_field(found.deadline),
        limits={limit.category: limit.max_per_hour for limit in limits},
    )


@router.post("/board/{board}/edit")
async def edit_board(
    page: PostedPage,
    board: BoardName,
    deadline: Typed = "",
    visibility: Annotated[Visibility | None, Form()] = None,
    reveal_code: Annotated[bool, Form()] = False,
    fixed_seed: Annotated[bool, Form()] = False,
    refuse_unavailable: Annotated[bool, Form()] = False,
    try_on_cpu: Annotated[bool, Form()] = False,
    shown: _Shown = False,
    was_deadline: Typed = "",
    was_visibility: Annotated[Visibility | None, Form()] = None,
    was: Annotated[list[str] | None, Form(max_length=_FLAGS)] = None,
) -> Response:
    """Change what differs from what the page showed (`was`: what was ticked): others may have
    changed the rest since. A form that doesn't say changes all but a deadline that is as it is now,
    which stays to the second."""
    before = await page.services.boards.get_organised(page.user, board)
    until = read_deadline(deadline)
    kept = deadline == (was_deadline if shown else deadline_field(before.deadline))

    def flag(name: str, ticked: bool) -> bool | None:
        return None if shown and ticked == (name in (was or ())) else ticked

    edit = BoardEdit(
        None if visibility is was_visibility else visibility,
        Keep.KEEP if kept else until,
        reveal_code=flag("reveal_code", reveal_code),
        fixed_seed=flag("fixed_seed", fixed_seed),
        refuse_unavailable=flag("refuse_unavailable", refuse_unavailable),
        try_on_cpu=flag("try_on_cpu", try_on_cpu),
    )
    return _changed(await page.services.boards.edit(page.user, before.name, edit), "saved")


@router.post("/board/{board}/end")
async def end_board(page: PostedPage, board: BoardName) -> Response:
    """Accept no more submissions from now on."""
    edit = BoardEdit(deadline=datetime.now(UTC))
    return _changed(await page.services.boards.edit(page.user, board, edit), "ended")


@router.post("/board/{board}/reopen")
async def reopen_board(page: PostedPage, board: BoardName) -> Response:
    """Accept submissions again, without a deadline."""
    edit = BoardEdit(deadline=None)
    return _changed(await page.services.boards.edit(page.user, board, edit), "reopened")


@router.post("/board/{board}/limits")
async def set_limits(
    page: PostedPage,
    board: BoardName,
    ranked: Typed = "",
    test: Typed = "",
    shown: _Shown = False,
    was_ranked: Typed = "",
    was_test: Typed = "",
) -> Response:
    """Set or remove how many submissions an author may make within an hour. What is as the page
    showed it stays as it is now."""
    wanted = {
        LimitCategory.LEADERBOARD: (_number(ranked), shown and ranked == was_ranked),
        LimitCategory.TEST: (_number(test), shown and test == was_test),
    }
    found = await page.services.boards.get_organised(page.user, board)
    for category, (number, stays) in wanted.items():
        if not stays:
            await _limit(page.services, page.user, found, category, number)
    return _changed(found, "saved")


async def _limit(
    services: Services, actor: User, board: Board, category: LimitCategory, number: int | None
) -> None:
    limits = await services.limits.list_limits(actor, board.name)
    before = {limit.category: limit.max_per_hour for limit in limits}.get(category)
    if number == before:
        return
    if number is None:
        await services.limits.remove(actor, board.name, category)
    else:
        await services.limits.set(actor, board.name, RateLimit(category, number))


@router.post("/board/{board}/delete")
async def delete_board(page: PostedPage, board: BoardName, name: Typed = "") -> Response:
    """Delete the board with its submissions, if its name was typed."""
    if name.strip().lower() != board.lower():
        raise UserError("That isn't the board's name.", hint="Nothing was deleted.")
    await page.services.deletion.delete_board(page.user, board, force=True)
    return go(f"{HOME}?done=deleted")


def _changed(board: Board, done: str) -> Response:
    return go(f"{organised_path(board.name)}?done={done}")


def _number(text: str) -> int | None:
    """An empty field is no limit. Raises `UserError`."""
    text = text.strip()
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise UserError(
            f"{text!r} isn't a limit.", hint="Write a number from 0, or leave the field empty."
        )
    return int(text)
