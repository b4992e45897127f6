"""The site: the HTTP API with pages for browsers beside it, in one application."""

from urllib.parse import urlsplit

from fastapi import FastAPI, Request
from fastapi.params import Depends
from prometheus_client import CollectorRegistry

from kernelbot.accounts.logins import pages as login
from kernelbot.accounts.pages import account
from kernelbot.api.app import create_app
from kernelbot.api.dependencies import SettingsDep
from kernelbot.api.settings import ApiSettings
from kernelbot.boards.pages import board as boards
from kernelbot.boards.pages import charts, embeds, home, trend
from kernelbot.domain.errors import NotAllowed
from kernelbot.drawing.texts import Texts
from kernelbot.duels import pages as duels
from kernelbot.extensions import installed
from kernelbot.platform.downloads import pages as downloads
from kernelbot.ranking.authors import pages as authors
from kernelbot.ranking.following import pages as following
from kernelbot.services import Services
from kernelbot.submissions.pages import history, profile, submit
from kernelbot.submissions.pages import submission as submissions
from kernelbot.submissions.profiles.reader import ProfileReader
from kernelbot.submissions.sharing import pages as sharing
from kernelbot.web import assets, docs, errors, organise
from kernelbot.web.guide import pages as guide
from kernelbot.web.kept import PageCache
from kernelbot.web.pages import Pages

ROUTERS = (
    home.router,
    trend.router,
    charts.router,
    embeds.router,
    boards.router,
    duels.router,
    authors.router,
    following.router,
    submit.router,
    submissions.router,
    sharing.router,
    profile.router,
    login.router,
    login.guessed,
    account.router,
    docs.router,
    guide.router,
    downloads.router,
    history.router,
)


def create_site(
    services: Services,
    settings: ApiSettings | None = None,
    registry: CollectorRegistry | None = None,
) -> FastAPI:
    files = assets.Assets()
    extensions = installed()
    beside = [router for one in extensions for router in one.pages]
    routers = (*ROUTERS, *beside, *organise.ROUTERS, assets.router(files))
    app = create_app(
        services,
        settings,
        registry,
        pages=routers,
        pages_need=(Depends(from_our_pages),),
        refusal=errors.too_large,
    )
    pictures = charts.ChartCache()
    app.state.pictures = pictures
    app.state.texts = Texts(app.state.settings.texts_patience_s)
    app.state.profiles = ProfileReader(app.state.settings.profiles_patience_s)
    app.state.kept = PageCache()
    app.state.guide = guide.Guide()
    app.state.pages = Pages(
        files,
        charts=pictures.drawing.available,
        downloads=[download for one in extensions for download in one.downloads],
    )
    errors.install(app)
    return app


async def close_site(app: FastAPI) -> None:
    """End what was begun for it: the processes that draw its charts, colour its texts and read its
    profiles."""
    await app.state.pictures.drawing.close()
    await app.state.texts.close()
    await app.state.profiles.close()


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
