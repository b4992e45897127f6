"""Pages that name authors lead to their pages by number, unless these are private."""

import pytest

from kernelbot.accounts.model import AuthorPage
from kernelbot.ranking.model import Standing
from tests.support.front import Front, csrf_for
from tests.support.judging import fought
from tests.support.ranked import ranked
from tests.support.world import World


@pytest.fixture
async def pages(front: Front) -> list[str]:
    """Those that name Ada, as an admin who follows the board sees them."""
    await front.world.board()
    for score_s in (1e-3, 0.95e-3):
        number = await ranked(front.world, score_s, relative_error=0.1)
    await fought(front.world, (0.5, 0.498, 0.502))
    ada = front.world.ada.user
    link = await front.world.services.sharing.share(ada, number, shows_code=False)
    await front.admin.post("/board/sort/follow", data=csrf_for(front.admin))
    board = "/board/sort"
    code = f"{board}?code={number}"
    submission = f"/submission/{number}"
    return [
        "/",
        board,
        code,
        f"{board}/duels",
        f"{board}/duels/1",
        "/following",
        link.path,
        submission,
    ]


async def links(front: Front, pages: list[str]) -> list[str]:
    """Pages that lead to Ada's. Each of them names her."""
    texts = {path: (await front.admin.get(path)).text for path in pages}
    assert [] == [path for path, text in texts.items() if "<bdi>ada</bdi>" not in text]
    href = f'href="/author/{front.world.ada.user.id}"'
    return [path for path, text in texts.items() if href in text]


async def test_each_page_leads_there_until_it_is_private_and_again_after(
    front: Front, pages: list[str]
) -> None:
    found = [await links(front, pages)]
    for private in (True, False):
        await front.world.services.users.set_author_page(
            front.world.ada.user, AuthorPage(private=private)
        )
        found.append(await links(front, pages))
    assert [pages, [], pages] == found


async def test_a_ranking_has_the_numbers_of_pages_that_are_not_private(world: World) -> None:
    await world.board()
    for author in (world.ada, world.bob):
        await ranked(world, 1e-3, author=author.user)
    await world.services.users.set_author_page(world.bob.user, AuthorPage(private=True))
    rows: tuple[Standing, ...] = (await world.services.standings.page(None, "sort", None)).standings
    assert {"ada": world.ada.user.id, "bob": None} == {row.author: row.page_id for row in rows}
