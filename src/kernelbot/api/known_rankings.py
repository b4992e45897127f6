"""Pages of public boards' rankings that were sent before."""

from fastapi import Request, Response

from kernelbot.api.dependencies import answers_of, count_connection, services

_ASKED_ONCE = None
"""Instead of a stamp: the page isn't kept yet."""


def _key(request: Request) -> tuple[str, bytes]:
    return request.path_params["board"], request.scope["query_string"]


async def known_standings(request: Request, token: str) -> Response | None:
    """A page that was asked for twice while nothing changed."""
    kept, key = answers_of(request).rankings, _key(request)
    if not kept.has(key) or kept.get(key, _ASKED_ONCE) is not None:
        return None
    look = await (await services(request)).standings.look(token, key[0])
    if look is None:
        return None
    answer = kept.get(key, look.stamp)
    if answer is None:
        kept.drop(key)  # what changes often isn't looked at in vain
        return None
    count_connection(request, look.owner_id)
    return Response(answer, media_type="application/json")


async def stamp_before(request: Request) -> int | None:
    """The stamp of the request's board, if the page is asked for again; None: it isn't, or has
    none."""
    kept, key = answers_of(request).rankings, _key(request)
    if kept.get(key, _ASKED_ONCE) is None:
        return None
    return await (await services(request)).standings.stamp(key[0])


def keep_standings(request: Request, stamp: int | None, answer: bytes) -> None:
    """Keep a page of a public board. `stamp`: as `stamp_before` found it before the page was
    read."""
    kept, key = answers_of(request).rankings, _key(request)
    if stamp is not None:
        kept.keep(key, stamp, answer)
    elif not kept.has(key):
        kept.keep(key, _ASKED_ONCE, b"")
