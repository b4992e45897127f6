"""Held submissions, and the decision about one with its code and evidence beside it."""

from typing import Annotated

from fastapi import APIRouter, Form, Response

from kernelbot.api.dependencies import SubmissionId
from kernelbot.domain.errors import UserError
from kernelbot.web import documents
from kernelbot.web.organisers import HOME, Done, OrganiserPage, Reason
from kernelbot.web.pages import PostedPage, go

router = APIRouter(prefix=HOME, include_in_schema=False)

_AT_ONCE = 50
_SHOWN_CODE_CHARACTERS = 100_000


@router.get("/held")
async def list_held(page: OrganiserPage, done: Done = "") -> Response:
    """What waits for the visitor's decision, the oldest first."""
    held = await page.services.reviews.held(page.user, limit=_AT_ONCE)
    return page("organise/held.html", tab="held", done=done, held=held, at_once=_AT_ONCE)


@router.get("/submission/{submission_id}")
async def show_submission(
    page: OrganiserPage, texts: documents.TextsDep, submission_id: SubmissionId
) -> Response:
    """A submission with its evidence, its code, and what can be decided about it."""
    found = await page.services.reviews.get(page.user, submission_id)
    code = found.code or ""
    shown = documents.excerpt(code, _SHOWN_CODE_CHARACTERS)
    return page(
        "organise/submission.html",
        tab="held" if found.review == "held" else "submissions",
        submission=found,
        source=await documents.source(texts, shown, found.file_name, asker=page.user.id),
        cut=len(shown) < len(code),
    )


@router.post("/submission/{submission_id}/release")
async def release(page: PostedPage, submission_id: SubmissionId, reason: Reason = "") -> Response:
    await page.services.reviews.release(page.user, submission_id, reason)
    return go(f"{HOME}/held?done=released")


@router.post("/submission/{submission_id}/refuse")
async def refuse(page: PostedPage, submission_id: SubmissionId, reason: Reason = "") -> Response:
    """Keep it from the ranking."""
    await page.services.reviews.refuse(page.user, submission_id, reason)
    return go(f"{HOME}/held?done=refused")


@router.post("/submission/{submission_id}/delete")
async def delete(
    page: PostedPage, submission_id: SubmissionId, number: Annotated[str, Form(max_length=20)] = ""
) -> Response:
    """Delete it, if its number was typed."""
    if number.strip() != str(submission_id):
        raise UserError("That isn't the submission's number.", hint="Nothing was deleted.")
    await page.services.deletion.delete_submission(page.user, submission_id)
    return go(f"{HOME}/submissions?done=removed")
