"""The site: the HTTP API with pages for browsers beside it, in one application."""

from fastapi import FastAPI
from fastapi.params import Depends
from prometheus_client import CollectorRegistry

from kernelbot.accounts.logins import pages as login
from kernelbot.accounts.pages import account
from kernelbot.api.app import create_app
from kernelbot.api.settings import ApiSettings
from kernelbot.boards.pages import board as boards
from kernelbot.boards.pages import charts, embeds, home, trend
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
from kernelbot.web.origin import from_our_pages
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
