"""`/docs` for people on a network without any other host."""

from html.parser import HTMLParser

from kernelbot.api.docs_page import render
from tests.api.conftest import Door

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
        for name, value in attrs:
            if name in _LOADS or (tag == "link" and name == "href"):
                self.loaded.append(value or "")
            elif name == "href":
                self.links.add(value or "")
            elif name == "id":
                self.places.add(value or "")


async def test_the_page_loads_nothing_from_anywhere(door: Door) -> None:
    answer = await door.stranger.get("/docs")
    page = Page(answer.text)
    assert (200, []) == (answer.status_code, page.loaded)
    assert set() == page.tags & {"script", "iframe", "object", "embed", "img"}
    assert "url(" not in answer.text
    assert "@import" not in answer.text
    assert answer.headers["content-security-policy"].startswith("default-src 'none';")


async def test_every_link_leads_somewhere_on_this_server(door: Door) -> None:
    page = Page((await door.stranger.get("/docs")).text)
    elsewhere = {link for link in page.links if not link.startswith("#")}
    assert {"/openapi.json"} == elsewhere
    assert set() == {link[1:] for link in page.links - elsewhere} - page.places
    assert 200 == (await door.stranger.get("/openapi.json")).status_code


async def test_every_path_stands_on_the_page(door: Door) -> None:
    text = (await door.stranger.get("/docs")).text
    paths = (await door.stranger.get("/openapi.json")).json()["paths"]
    assert [] == [path for path in paths if f"<code>{path}</code>" not in text]


async def test_there_is_no_second_page_that_loads_from_elsewhere(door: Door) -> None:
    assert 404 == (await door.stranger.get("/redoc")).status_code


def test_what_the_document_says_is_text() -> None:
    responses = {"200": {"description": "<script>1</script>"}}
    paths = {"/<s>": {"get": {"description": "<i>", "responses": responses}}}
    page = render({"info": {"title": "<u>", "version": "1"}, "paths": paths})
    assert set() == Page(page).tags & {"script", "i", "s", "u"}
