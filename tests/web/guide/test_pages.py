"""`/guide`: every page of the documentation, whose links lead somewhere."""

import pytest

from kernelbot.web.guide.contents import Contents
from tests.support.front import Front
from tests.web.test_docs import Page

FROM_THE_SITE = {"/", "/auth/login", "/client/", "/docs", "/harness/", "/records.atom"}
ELSEWHERE = (
    "/guide/nothing",
    "/guide/README.md",
    "/guide/how-to",
    "/guide/../../pyproject.toml",
    "/guide/..%2f..%2fpyproject.toml",
    "/guide/%2fetc%2fpasswd",
    "/guide/img/../../../pyproject.toml",
    "/guide/a%00b",
)


_READ: dict[str, Page] = {}


@pytest.fixture
async def pages(front: Front) -> dict[str, Page]:
    """Each page, by its address; asked for once, as all sites show the same."""
    if not _READ:
        answers = {where: await front.stranger.get(where) for where in Contents().pages}
        assert {200} == {answer.status_code for answer in answers.values()}
        _READ.update((where, Page(answer.text)) for where, answer in answers.items())
    return _READ


@pytest.mark.exhaustive  # each run has test_every_page_can_be_reached_from_the_overview
async def test_every_link_leads_to_a_page_a_file_or_a_heading_that_is_there(
    pages: dict[str, Page],
) -> None:
    known = {*FROM_THE_SITE, *pages, *Contents().files}
    lost = []
    for where, page in pages.items():
        for link in page.links:
            target, _, place = link.partition("#")
            there = pages.get(target or where)
            outside = link.startswith(("https://", "http://"))
            is_known = outside or (target or where) in known
            if not is_known or (place and there and place not in there.places):
                lost.append((where, link))
    assert [] == lost


async def test_every_page_can_be_reached_from_the_overview(pages: dict[str, Page]) -> None:
    reached, waiting = set[str](), ["/guide"]
    while waiting:
        where = waiting.pop()
        if where in pages and where not in reached:
            reached.add(where)
            waiting += [link.partition("#")[0] for link in pages[where].links]
    assert set(pages) == reached


async def test_pages_load_only_what_this_server_has(front: Front, pages: dict[str, Page]) -> None:
    loaded = {one for page in pages.values() for one in page.loaded}
    answers = {one: (await front.stranger.get(one)).status_code for one in sorted(loaded)}
    assert [] == [one for one, code in answers.items() if code != 200]
    assert [] == [one for one in loaded if not one.startswith(("/static/", "/guide/img/"))]


@pytest.mark.exhaustive  # each run has test_pages_load_only_what_this_server_has
async def test_every_page_leads_to_the_guide_and_the_rules(front: Front) -> None:
    for path in ("/", "/nothing", "/auth/login", "/docs", "/guide"):
        links = Page((await front.stranger.get(path)).text).links
        assert {"/guide", "/guide/reference/rules"} <= links


async def test_a_picture_is_a_file_that_can_do_nothing(front: Front) -> None:
    answer = await front.stranger.get("/guide/img/architecture.svg")
    assert (200, "image/svg+xml") == (answer.status_code, answer.headers["content-type"])
    assert "sandbox" in answer.headers["content-security-policy"]


async def test_nothing_but_the_documentation_is_there(front: Front) -> None:
    for path in ELSEWHERE:
        assert (path, 404) == (path, (await front.stranger.get(path)).status_code)
