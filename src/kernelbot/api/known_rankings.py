"""Pages of public boards' rankings that were sent before."""

from fastapi import Request, Response

from kernelbot.api.dependencies import answers_of, services
from kernelbot.api.known import ASKED_ONCE, sent_again


def _key(request: Request) -> tuple[str, bytes]:
    return request.path_params["board"], request.scope["query_string"]


async def known_standings(request: Request, token: str) -> Response | None:
    """A page that was asked for twice while nothing changed."""
    kept, key = answers_of(request).rankings, _key(request)
    if not kept.has(key) or kept.get(key, ASKED_ONCE) is not None:
        return None
    look = await (await services(request)).standings.look(token, key[0])
    return sent_again(request, kept, key, look.stamp, look.owner_id) if look else None


async def stamp_before(request: Request) -> int | None:
    """The stamp of the request's board, if the page is asked for again; None: it isn't, or has
    none."""
    kept, key = answers_of(request).rankings, _key(request)
    if kept.get(key, ASKED_ONCE) is None:
        return None
    return await (await services(request)).standings.stamp(key[0])


def keep_standings(request: Request, stamp: int | None, answer: bytes) -> None:
    """Keep a page of a public board. `stamp`: as `stamp_before` found it before the page was
    read."""
    kept, key = answers_of(request).rankings, _key(request)
    if stamp is not None:
        kept.keep(key, stamp, answer)
    elif not kept.has(key):
        kept.keep(key, ASKED_ONCE, b"")
