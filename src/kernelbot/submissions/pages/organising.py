"""Everybody's submissions, of a board or a person, narrowed and page by page."""

from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Response

from kernelbot.accounts.permissions import is_admin
from kernelbot.domain.errors import UserError
from kernelbot.domain.ids import BIGINT_MAX
from kernelbot.domain.states import SubmissionState
from kernelbot.web.organisers import HOME, Done, OrganiserPage, Typed, Word, filled
from kernelbot.web.pages import PostedPage, go

router = APIRouter(prefix=HOME, include_in_schema=False)

ROWS = 50


@router.get("/submissions")
async def list_submissions(
    page: OrganiserPage,
    board: Word = "",
    user: Word = "",
    device: Word = "",
    state: Annotated[SubmissionState | str, Query(max_length=20)] = "",
    before: Annotated[int | None, Query(ge=1, le=BIGINT_MAX)] = None,
    done: Done = "",
) -> Response:
    """Submissions that the fields ask for, newest first. An admin may leave the board open; others
    see those of the first board that they organise."""
    boards = [one.name for one in await page.services.boards.organised(page.user)]
    chosen = filled(board)
    if chosen is None and not is_admin(page.user):
        chosen = boards[0] if boards else None
    asked = {"board": chosen, "user": filled(user), "device": filled(device)}
    wanted = SubmissionState(state) if state in tuple(SubmissionState) else None
    found = []
    if chosen is not None or is_admin(page.user):
        found = await page.services.submission_lists.page_of_others(
            page.user, **asked, state=wanted, limit=ROWS + 1, before_id=before
        )
    rows = [one for _, one in await page.services.submission_lists.shown(found[:ROWS])]
    return page(
        "organise/submissions.html",
        tab="submissions",
        done=done,
        rows=rows,
        boards=boards,
        asked={key: value for key, value in {**asked, "state": wanted}.items() if value},
        devices=[one.name for one in await page.services.devices.list_devices()],
        states=tuple(SubmissionState),
        before=before,
        next_before=found[ROWS - 1].id if len(found) > ROWS else None,
    )


@router.post("/submissions/delete")
async def delete_all(
    page: PostedPage, board: Typed = "", user: Typed = "", name: Typed = ""
) -> Response:
    """Delete all of a person's submissions to a board, if their name was typed."""
    if not user or name.strip().lower() != user.lower():
        raise UserError("That isn't the author's name.", hint="Nothing was deleted.")
    await page.services.deletion.delete_submissions_of(page.user, board, user)
    return go(f"{HOME}/submissions?{urlencode({'board': board, 'done': 'all-removed'})}")
