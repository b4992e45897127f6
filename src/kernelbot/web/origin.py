"""Forms are taken from our own pages alone: what the browser says about where one was sent from."""

from urllib.parse import urlsplit

from fastapi import Request

from kernelbot.api.dependencies import SettingsDep
from kernelbot.domain.errors import NotAllowed

_SAFE = ("GET", "HEAD", "OPTIONS")
_OURS = ("same-origin", "none")
"""`none`: the person did it themselves, such as reloading a page."""
_DEFAULT_PORTS = {"http": 80, "https": 443}

Origin = tuple[str, str]
"""Scheme, and host with its port unless that is the scheme's own; in small letters."""


async def from_our_pages(request: Request, settings: SettingsDep) -> None:
    """Raises `NotAllowed` for a form that a page of another site sent, whatever it holds. Old
    browsers say nothing of either kind; their forms still need their secret."""
    if request.method in _SAFE:
        return
    sites = request.headers.getlist("sec-fetch-site")
    if any(site not in _OURS for site in sites):
        raise _foreign("another site")
    if sites and settings.public_url is None:
        return  # a proxy may have changed the host, and the browser knows better
    for sent in request.headers.getlist("origin"):
        if not _is_ours(sent, settings.public_url, request.headers.get("host", "")):
            raise _foreign(sent if len(sent) <= 100 and sent.isprintable() else "another site")


def _is_ours(sent: str, public_url: str | None, host: str) -> bool:
    """Whether this origin is the configured address, or the one that was asked. The scheme counts
    where we know it: behind a proxy we don't."""
    origin, public = _origin(sent), _origin(public_url or "")
    if origin is None:
        return False
    if public is not None and origin[1] == public[1]:
        return origin == public
    asked = _origin(f"{origin[0]}://{host}")
    return origin == asked


def _origin(url: str) -> Origin | None:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return None
    if parts.scheme not in _DEFAULT_PORTS or not parts.hostname:
        return None
    shown = "" if port in (None, _DEFAULT_PORTS[parts.scheme]) else f":{port}"
    return parts.scheme, f"{parts.hostname}{shown}"


def _foreign(where: str) -> NotAllowed:
    return NotAllowed(
        f"This form was sent from {where}, not from a page of this server.",
        hint="Open the page here and try again. Organisers: is public_url this site's address?",
    )
