"""Templates become answers: one environment, one set of headers."""

from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import Depends, Request
from fastapi.responses import HTMLResponse, RedirectResponse
from jinja2 import Environment, PackageLoader, StrictUndefined

from kernelbot import __version__
from kernelbot.accounts.model import User
from kernelbot.extensions import Download
from kernelbot.services import Services
from kernelbot.web import filters
from kernelbot.web.assets import Assets
from kernelbot.web.session import BrowserSession, MaybeSession, NeededSession, PostedSession

_POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'{targets}; frame-ancestors 'none'; base-uri 'none'"
)
HEADERS = {
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
}


class Pages:
    """All templates, which escape whatever they are given unless it is `Markup`. A name that a
    template uses and isn't given is an error. `charts`: whether this server draws them.
    `downloads`: of each submission that was judged."""

    def __init__(self, assets: Assets, *, charts: bool, downloads: Sequence[Download] = ()) -> None:
        self._environment = Environment(
            loader=PackageLoader("kernelbot.web"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            auto_reload=False,
        )
        self._environment.filters.update(filters.FILTERS)
        self._environment.tests.update(filters.TESTS)
        self._environment.globals.update(
            asset=assets.path, version=__version__, charts=charts, downloads=downloads
        )

    def text(self, template: str, **values: Any) -> str:
        return self._environment.get_template(template).render(values)


class Page:
    """Answers one request with a page, which shows who is logged in."""

    def __init__(self, pages: Pages, request: Request, session: BrowserSession | None) -> None:
        self._pages = pages
        self._state = request.app.state
        self._path = request.url.path
        self._origin = request.app.state.settings.base_url(request)
        self.session = session

    @property
    def services(self) -> Services:
        """What the page is made of, and a form's wishes are told to."""
        found = self._state.services
        assert isinstance(found, Services)
        return found

    @property
    def viewer(self) -> User | None:
        return self.session.user if self.session else None

    def __call__(
        self,
        template: str,
        *,
        status: int = 200,
        form_targets: str = "",
        opens_windows: bool = False,
        **values: Any,
    ) -> HTMLResponse:
        """The template as an answer. `form_targets`: origins to which its forms may lead;
        `opens_windows`: whether its script speaks to windows of other sites that it opens."""
        text = self.text(template, **values)
        headers = self._headers(form_targets)
        if opens_windows:
            headers["Cross-Origin-Opener-Policy"] = "same-origin-allow-popups"
        return HTMLResponse(text, status_code=status, headers=headers)

    def text(self, template: str, **values: Any) -> str:
        known = {"session": self.session, "path": self._path, "origin": self._origin}
        return self._pages.text(template, **known, **values)

    def _headers(self, form_targets: str) -> dict[str, str]:
        targets = f" {form_targets}" if form_targets else ""
        return {
            **HEADERS,
            "Content-Security-Policy": _POLICY.format(targets=targets),
            "Cache-Control": "no-store" if self.session else "no-cache",
        }


class OwnPage(Page):
    """Answers somebody who is logged in."""

    session: BrowserSession

    @property
    def user(self) -> User:
        """Who asks."""
        return self.session.user


def pages_of(request: Request) -> Pages:
    found = request.app.state.pages
    assert isinstance(found, Pages)
    return found


async def page(request: Request, session: MaybeSession) -> Page:
    """What answers this request."""
    return Page(pages_of(request), request, session)


async def person_page(request: Request, session: NeededSession) -> OwnPage:
    """What answers somebody who is logged in. Raises `NotAuthenticated`."""
    return OwnPage(pages_of(request), request, session)


async def posted_page(request: Request, session: PostedSession) -> OwnPage:
    """What answers a form of ours. Raises `NotAuthenticated`, `NotAllowed`."""
    return OwnPage(pages_of(request), request, session)


PageDep = Annotated[Page, Depends(page)]
PersonPage = Annotated[OwnPage, Depends(person_page)]
PostedPage = Annotated[OwnPage, Depends(posted_page)]


def go(url: str) -> RedirectResponse:
    """Redirect the browser to `url` with a GET."""
    return RedirectResponse(url, status_code=303, headers={**HEADERS, "Cache-Control": "no-store"})
