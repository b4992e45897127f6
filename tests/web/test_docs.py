"""`/docs` for people on a network without any other host."""

from html.parser import HTMLParser

import pytest

from kernelbot.web.assets import Assets
from kernelbot.web.docs import contents, described
from kernelbot.web.pages import Pages
from tests.support.front import Front

LARGEST_BYTES = 60_000
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


@pytest.fixture
async def pages(front: Front) -> dict[str, str]:
    """The text of each page, by its path."""
    first = (await front.stranger.get("/docs")).text
    paths = {link.partition("#")[0] for link in Page(first).links if link.startswith("/docs/")}
    return {"/docs": first} | {path: (await front.stranger.get(path)).text for path in paths}


# Each run has test_every_path_stands_on_the_first_page_and_on_one_of_a_group
@pytest.mark.exhaustive
async def test_the_pages_load_nothing_but_our_own_style_and_script(pages: dict[str, str]) -> None:
    found = [Page(text) for text in pages.values()]
    assert {True} == {one.startswith("/static/") for page in found for one in page.loaded}
    assert set() == {"iframe", "object", "embed", "style"}.intersection(*(p.tags for p in found))


# Each run has test_every_page_can_be_reached_from_the_overview (test_pages.py).
@pytest.mark.exhaustive
async def test_every_link_leads_somewhere_on_this_server(
    front: Front, pages: dict[str, str]
) -> None:
    known = {"/openapi.json", "/", "/auth/login", "/records.atom", "/client/", "/harness/", *pages}
    known |= {"/guide", "/guide/reference/rules"}
    read = {path: Page(text) for path, text in pages.items()}
    lost = []
    for path, page in read.items():
        for link in page.links:
            target, _, place = link.partition("#")
            there = read.get(target or path)
            if (target or path) not in known or (place and there and place not in there.places):
                lost.append((path, link))
    assert [] == lost
    assert 200 == (await front.stranger.get("/openapi.json")).status_code


async def test_every_path_stands_on_the_first_page_and_on_one_of_a_group(
    front: Front, pages: dict[str, str]
) -> None:
    paths = (await front.stranger.get("/openapi.json")).json()["paths"]
    others = "".join(text for path, text in pages.items() if path != "/docs")
    assert [] == [path for path in paths if f"<code>{path}</code>" not in pages["/docs"]]
    assert [] == [path for path in paths if f"<code>{path}</code>" not in others]


async def test_no_page_is_large(pages: dict[str, str]) -> None:
    assert [] == [path for path, text in pages.items() if len(text.encode()) > LARGEST_BYTES]


@pytest.mark.parametrize("group", ["nothing", "a'; echo x", "%00", "<script>"])
async def test_a_group_that_is_not_there(front: Front, group: str) -> None:
    assert 404 == (await front.stranger.get(f"/docs/{group}")).status_code


async def test_there_is_no_second_page_that_loads_from_elsewhere(front: Front) -> None:
    assert 404 == (await front.stranger.get("/redoc")).status_code


def test_what_the_document_says_is_text() -> None:
    responses = {"200": {"description": "<script>1</script>"}}
    paths = {"/<s>": {"get": {"tags": ["<b>"], "description": "<i>", "responses": responses}}}
    document = {"info": {"title": "<u>", "version": "1", "summary": "<u>"}, "paths": paths}
    pages = Pages(Assets(), charts=False)
    first = pages.text("docs.html", session=None, path="/docs", **contents(document))
    other = pages.text(
        "docs_group.html", session=None, path="/docs/<b>", **described(document, "<b>")
    )
    assert set() == (Page(first).tags | Page(other).tags) & {"b", "i", "s", "u"}
