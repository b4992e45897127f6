"""`/docs` for people on a network without any other host."""

from html.parser import HTMLParser

from kernelbot.web.assets import Assets
from kernelbot.web.pages import Pages
from kernelbot.web.routers.docs import described
from tests.web.conftest import Front

_LOADS = {"src", "srcset", "data", "action", "formaction", "poster", "background"}


class Page(HTMLParser):
    """What a browser would ask for, where links lead, and the places there are."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.loaded: list[str] = []
        self.links: set[str] = set()
        self.places: set[str] = set()
        self.tags: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        loads = tag == "link" and ("rel", "alternate") not in attrs  # a feed is only named
        for name, value in attrs:
            if name in _LOADS or (loads and name == "href"):
                self.loaded.append(value or "")
            elif name == "href":
                self.links.add(value or "")
            elif name == "id":
                self.places.add(value or "")


async def test_the_page_loads_nothing_but_our_own_style_and_script(front: Front) -> None:
    answer = await front.stranger.get("/docs")
    page = Page(answer.text)
    assert (200, True) == (
        answer.status_code,
        all(path.startswith("/static/") for path in page.loaded),
    )
    assert set() == page.tags & {"iframe", "object", "embed", "style"}


async def test_every_link_leads_somewhere_on_this_server(front: Front) -> None:
    page = Page((await front.stranger.get("/docs")).text)
    elsewhere = {link for link in page.links if not link.startswith("#")}
    assert {"/openapi.json", "/", "/docs", "/auth/login", "/records.atom"} == elsewhere
    assert set() == {link[1:] for link in page.links - elsewhere} - page.places
    assert 200 == (await front.stranger.get("/openapi.json")).status_code


async def test_every_path_stands_on_the_page(front: Front) -> None:
    text = (await front.stranger.get("/docs")).text
    paths = (await front.stranger.get("/openapi.json")).json()["paths"]
    assert [] == [path for path in paths if f"<code>{path}</code>" not in text]


async def test_there_is_no_second_page_that_loads_from_elsewhere(front: Front) -> None:
    assert 404 == (await front.stranger.get("/redoc")).status_code


def test_what_the_document_says_is_text() -> None:
    responses = {"200": {"description": "<script>1</script>"}}
    paths = {"/<s>": {"get": {"description": "<i>", "responses": responses}}}
    document = {"info": {"title": "<u>", "version": "1", "summary": "<u>"}, "paths": paths}
    page = Pages(Assets(), charts=False).text(
        "docs.html", session=None, path="/docs", **described(document)
    )
    assert set() == Page(page).tags & {"i", "s", "u"}
