"""Answers about an author's own submissions that were sent before."""

from fastapi import Request, Response

from kernelbot.accounts.tokens.model import OwnerLook
from kernelbot.accounts.tokens.text import token_hash
from kernelbot.api.answers import MAX_KEPT_BYTES
from kernelbot.api.dependencies import answers_of, services
from kernelbot.api.known import ASKED_ONCE, sent_again
from kernelbot.submissions.lists import OwnPage
from kernelbot.submissions.service import SubmissionLook
from kernelbot.submissions.views import SubmissionSnapshot


async def known_submission(request: Request, token: str) -> Response | None:
    """One submission, which its author has asked for twice while nothing changed."""
    kept, number = answers_of(request).own, request.path_params["submission_id"]
    seen = kept.version(number)
    if not isinstance(seen, SubmissionLook):
        return None
    look = await (await services(request)).submissions.look(token, int(number), seen)
    if look is None:
        return None
    kept.renew(number, look)
    return sent_again(request, kept, number, look, look.owner_id)


def keep_submission(request: Request, snapshot: SubmissionSnapshot, answer: bytes) -> None:
    """Keep what was answered again. Without a stamp it isn't its author's, or wasn't asked for
    twice."""
    if snapshot.stamp is not None and len(answer) <= MAX_KEPT_BYTES:
        look = SubmissionLook(snapshot.row.author_id, snapshot.stamp, snapshot.queue)
        answers_of(request).own.keep(str(snapshot.id), look, answer)


async def known_page(request: Request, token: str) -> Response | None:
    """A page of the asker's own submissions."""
    answers, query = answers_of(request), request.scope["query_string"]
    page = answers.pages_asked.get(query, None)
    if page is None:
        return None
    by = token_hash(token), query
    seen = answers.pages_seen.get(by, page)
    look = await (await services(request)).submission_lists.look(token, page, seen)
    if look is None:
        return None
    if look is not seen:
        answers.pages_seen.keep(by, page, look)
    key = look.owner_id, query
    return sent_again(request, answers.own_pages, key, look, look.owner_id)


def keep_page(
    request: Request, page: OwnPage, owner_id: int, stamp: int | None, answer: bytes
) -> None:
    """Keep a page. `stamp`: as it was before the page was read; None: it is asked for the first
    time, and only that is noted."""
    answers, query = answers_of(request), request.scope["query_string"]
    key = owner_id, query
    if stamp is None:
        answers.own_pages.keep(key, ASKED_ONCE, b"")
    elif len(answer) <= MAX_KEPT_BYTES:
        answers.pages_asked.keep(query, None, page)
        answers.own_pages.keep(key, OwnerLook(owner_id, stamp), answer)
