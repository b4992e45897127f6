"""What the pages of a test did in the browser, and whether it is what the test says of itself."""

from collections.abc import Iterable
from urllib.parse import urlsplit

from playwright.sync_api import Page, Request, Response

from tests.web.chromium.inventory import Route, route_of


class Seen:
    """Filled by the browser's own events, so that it also knows of pages without a script."""

    def __init__(self, url: str) -> None:
        self._host = urlsplit(url).netloc
        self._asked: set[Route | None] = set()
        """Forms that were sent. The browser may say so after it has told of the answer."""
        self._document: dict[Page, Route | None] = {}
        self.got: set[Route | None] = set()
        """What was answered without an error, pictures and files included."""
        self.shown: set[Route | None] = set()
        """Answers that were pages."""
        self.examined: set[Route | None] = set()
        """Pages that axe has seen."""

    def watch(self, page: Page) -> None:
        """Note whatever the page does from now on."""
        page.on("response", lambda response: self._answered(page, response))
        page.on("requestfailed", self._left)
        page.on("download", lambda file: self.got.add(self._route("GET", file.url)))
        events = page.context.new_cdp_session(page)
        events.on("Page.frameRequestedNavigation", self._leaving)
        events.send("Page.enable")

    def examine(self, page: Page) -> None:
        """Note that axe has seen what the page shows."""
        self.examined.add(self._document.get(page))

    def forget(self) -> None:
        """Another test begins."""
        for found in (self._asked, self.got, self.shown, self.examined):
            found.clear()

    def unkept(self, opens: Iterable[str], sends: Iterable[str]) -> list[str]:
        """In a sentence each, what a test says of itself and didn't do."""
        opened = {path: route_of("GET", path) for path in opens}
        sent = {form: route_of(*form.split(" ", 1)) for form in sends}
        wrong = [f"{path} was not opened." for path, one in opened.items() if one not in self.got]
        answered = self._asked & self.got
        wrong += [f"{form} was not sent." for form, one in sent.items() if one not in answered]
        # What a form asks for with GET is a page that can be opened, too.
        pages = {*opened.values(), *(one for one in sent.values() if one and one.method == "POST")}
        unseen = sorted(map(str, (pages & self.shown) - self.examined))
        return wrong + [f"The page of {route} was not examined by axe." for route in unseen]

    def _route(self, method: str, url: str) -> Route | None:
        parts = urlsplit(url)
        return route_of(method, parts.path) if parts.netloc == self._host else None

    def _leaving(self, event: dict[str, str]) -> None:
        if event["reason"].startswith("formSubmission"):
            method = event["reason"].removeprefix("formSubmission").upper()
            self._asked.add(self._route(method, event["url"]))

    def _answered(self, page: Page, response: Response) -> None:
        request = response.request
        self._redirected(request.redirected_from)
        route = self._route(request.method, response.url)
        html = response.headers.get("content-type", "").startswith("text/html")
        if html and request.is_navigation_request():
            self._document[page] = route
        if request.method == "POST" and request.is_navigation_request():
            self._asked.add(route)  # only a form does that; the other event may come too late
        if response.status >= 400:
            return
        self.got.add(route)
        if html and response.status == 200 and request.is_navigation_request():
            self.shown.add(route)

    def _left(self, request: Request) -> None:
        """A form's answer isn't waited for if the page is loaded again meanwhile, because what the
        form did is told to it as well."""
        if request.method == "POST" and request.is_navigation_request():
            route = self._route(request.method, request.url)
            self._asked.add(route)
            self.got.add(route)

    def _redirected(self, request: Request | None) -> None:
        """What was asked for before the browser was sent on: its own answer may be told only after
        the page that it led to, or never, if the test has ended by then."""
        while request is not None:
            route = self._route(request.method, request.url)
            self.got.add(route)
            if request.method == "POST" and request.is_navigation_request():
                self._asked.add(route)
            request = request.redirected_from
