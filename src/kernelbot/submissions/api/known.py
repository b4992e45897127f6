"""Answers about an author's own submissions that were sent before."""

from fastapi import Request, Response

from kernelbot.api.answers import MAX_KEPT_BYTES
from kernelbot.api.dependencies import answers_of, count_connection, services
from kernelbot.submissions.lists import OwnPage, PageLook
from kernelbot.submissions.service import SubmissionLook
from kernelbot.submissions.views import SubmissionSnapshot

_ASKED_ONCE = None
"""Instead of what a look finds: the page isn't kept yet."""


async def known_submission(request: Request, token: str) -> Response | None:
    """One submission, which its author has asked for twice while nothing changed."""
    kept, number = answers_of(request).own, request.path_params["submission_id"]
    if not kept.has(number):
        return None
    look = await (await services(request)).submissions.look(token, int(number))
    if look is None:
        return None
    answer = kept.get(number, look)
    if answer is None:
        kept.drop(number)  # what changes often isn't looked at in vain
        return None
    count_connection(request, look.owner_id)
    return Response(answer, media_type="application/json")


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
    look = await (await services(request)).submission_lists.look(token, page)
    if look is None:
        return None
    key = look.owner_id, query
    answer = answers.own_pages.get(key, look)
    if answer is None:
        if answers.own_pages.get(key, _ASKED_ONCE) is None:
            answers.own_pages.drop(key)  # what changes often isn't looked at in vain
        return None
    count_connection(request, look.owner_id)
    return Response(answer, media_type="application/json")


def keep_page(
    request: Request, page: OwnPage, owner_id: int, stamp: int | None, answer: bytes
) -> None:
    """Keep a page. `stamp`: as it was before the page was read; None: it is asked for the first
    time, and only that is noted."""
    answers, query = answers_of(request), request.scope["query_string"]
    key = owner_id, query
    if stamp is None:
        answers.own_pages.keep(key, _ASKED_ONCE, b"")
    elif len(answer) <= MAX_KEPT_BYTES:
        answers.pages_asked.keep(query, None, page)
        answers.own_pages.keep(key, PageLook(owner_id, stamp), answer)
