"""Code beside the ranking: for those who may read it, with those before and after."""

import re
from datetime import UTC, datetime, timedelta

import httpx
import pytest

from kernelbot.accounts.model import NewToken
from kernelbot.boards.pages import board as pages
from kernelbot.boards.service import BoardEdit
from tests.support.front import Front
from tests.support.ranked import ranked

YESTERDAY = timedelta(days=-1)
TOMORROW = timedelta(days=1)


async def people(front: Front, count: int) -> list[tuple[NewToken, int]]:
    """So many authors with their submissions, the fastest first."""
    found = []
    for number in range(count):
        author = await front.world.services.users.create(f"author-{number}")
        found.append((author, await ranked(front.world, (1 + number) * 1e-3, author=author.user)))
    return found


async def opened(
    front: Front, *, reveal: bool, ends: timedelta = YESTERDAY, count: int = 3
) -> list[int]:
    """A board with some authors, whose code may be read after its end; their submissions."""
    await front.world.board()
    found = await people(front, count)
    edit = BoardEdit(deadline=datetime.now(UTC) + ends, reveal_code=reveal)
    await front.world.services.boards.edit(front.world.admin.user, "sort", edit)
    return [number for _, number in found]


def neighbours(answer: httpx.Response) -> dict[str, str]:
    """Where the links to those before and after lead."""
    return dict(re.findall(r'rel="(prev|next)" href="([^"]*#code)"', answer.text))


async def test_after_the_end_everybody_reads_it_with_its_neighbours(front: Front) -> None:
    first, second, third = await opened(front, reveal=True)
    answer = await front.bob.get(f"/board/sort?code={second}")
    assert (200, True) == (answer.status_code, "score_s" in answer.text)
    expected = {"prev": first, "next": third}
    assert {
        way: f"/board/sort?device=CPU&amp;code={number}#code" for way, number in expected.items()
    } == neighbours(answer)


@pytest.mark.parametrize(
    ("who", "reveal", "ends", "expected"),
    [
        ("bob", True, YESTERDAY, (True, 200)),
        ("bob", True, TOMORROW, (False, 403)),
        ("bob", False, YESTERDAY, (False, 403)),
        ("admin", False, TOMORROW, (True, 200)),
        ("stranger", True, YESTERDAY, (False, 303)),
    ],
)
async def test_only_those_who_may_read_code_are_shown_the_way(
    front: Front, who: str, reveal: bool, ends: timedelta, expected: tuple[bool, int]
) -> None:
    number = (await opened(front, reveal=reveal, ends=ends))[0]
    browser = getattr(front, who)
    table = await browser.get("/board/sort")
    answer = await browser.get(f"/board/sort?code={number}")
    assert expected == ("#code" in table.text, answer.status_code)


async def test_a_table_kept_for_a_reader_is_not_a_strangers(front: Front) -> None:
    await opened(front, reveal=False)
    browsers = (front.admin, front.stranger, front.admin)
    shown = ["#code" in (await one.get("/board/sort")).text for one in browsers]
    assert [True, False, True] == shown


async def test_neighbours_on_other_pages_are_led_to(
    front: Front, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "ROWS", 1)
    first, second, third = await opened(front, reveal=True)
    answer = await front.bob.get(f"/board/sort?offset=1&code={second}")
    assert {
        "prev": f"/board/sort?device=CPU&amp;code={first}#code",
        "next": f"/board/sort?device=CPU&amp;offset=2&amp;code={third}#code",
    } == neighbours(answer)


async def test_one_that_is_not_ranked_has_no_neighbours(front: Front) -> None:
    await front.world.board()
    slower = await ranked(front.world, 9e-3)
    await ranked(front.world, 8e-3)
    answer = await front.ada.get(f"/board/sort?code={slower}")
    assert (200, {}) == (answer.status_code, neighbours(answer))


async def test_one_of_another_board_is_not_there(front: Front) -> None:
    await opened(front, reveal=True)
    await front.world.board("other")
    elsewhere = await ranked(front.world, 1e-3, board="other")
    answers = [
        (await front.admin.get(f"/board/sort?code={number}")).status_code
        for number in (elsewhere, 4711, 0, -1, "x", 10**30)
    ]
    assert [404, 404, 422, 422, 422, 422] == answers


async def test_hostile_code_stays_text_and_long_code_is_cut(front: Front) -> None:
    await front.world.board()
    number = await ranked(front.world, 1e-3, says="# <script>\u202e " + "x" * 50_000)
    text = (await front.admin.get(f"/board/sort?code={number}")).text
    assert ([False, False], True) == (
        [word in text for word in ("<script>", "\u202e")],
        "only its beginning" in text,
    )
    assert len(text) < 60_000
