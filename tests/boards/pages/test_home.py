"""The home page."""

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from kernelbot.boards.model import Difficulty, Visibility
from kernelbot.boards.service import BoardEdit
from tests.support.front import Front
from tests.support.problems import sort_problem
from tests.support.ranked import ranked


async def test_boards_stand_by_whether_they_run_have_no_end_or_ended(front: Front) -> None:
    world = front.world
    for name, deadline in (
        ("runs", datetime.now(UTC) + timedelta(days=3, minutes=1)),
        ("practice", None),
    ):
        await world.services.boards.create(
            world.admin.user, sort_problem(name), name=name, devices=("CPU",), deadline=deadline
        )
    await world.board("over")
    await world.services.boards.edit(
        world.admin.user, "over", BoardEdit(deadline=datetime.now(UTC) - timedelta(seconds=1))
    )
    text = (await front.stranger.get("/")).text
    order = (">Active", '/board/runs">', ">Practice", '/board/practice">')
    places = [text.index(word) for word in order]
    assert (sorted(places), True) == (places, "3 days left" in text)


async def test_a_closed_board_is_for_those_who_may_see_it(front: Front) -> None:
    await front.world.services.boards.create(
        front.world.admin.user,
        sort_problem("secret-board"),
        name="secret-board",
        devices=("CPU",),
        visibility=Visibility.CLOSED,
    )
    shown = ["secret-board" in (await one.get("/")).text for one in (front.stranger, front.admin)]
    assert [False, True] == shown


async def test_without_boards_it_says_how_one_is_made(front: Front) -> None:
    assert "There is no board yet" in (await front.stranger.get("/")).text


@pytest.mark.parametrize("name", ["x" * 64, "a.b-c_d"])
async def test_names_lead_to_their_boards(front: Front, name: str) -> None:
    await front.world.board(name)
    assert f'href="/board/{name}"' in (await front.stranger.get("/")).text


async def problem_of(front: Front, name: str, **said: Any) -> None:
    """A board whose problem says this of itself."""
    problem = replace(sort_problem(name), **said)
    await front.world.services.boards.create(
        front.world.admin.user, problem, name=name, devices=("CPU",)
    )


async def test_a_problem_is_introduced_by_its_own_words(front: Front) -> None:
    await problem_of(
        front, "radix", summary="Sort <fast>.", difficulty=Difficulty.HARD, tags=("sort", "c++")
    )
    await front.world.board("plain")
    text = (await front.stranger.get("/")).text
    shown = ["Sort &lt;fast&gt;.", ">hard</a>", "/?q=c%2B%2B", ">Python</a>", ">Sort it.</p>"]
    assert [] == [one for one in shown if one not in text]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", ["radix", "plain"]),
        ("RADIX", ["radix"]),
        ("hard", ["radix"]),
        ("c%2B%2B", ["radix"]),
        ("sort+it", ["plain"]),
        ("python+cpu", ["radix", "plain"]),
        ("cpu+nothing", []),
        ("%3Cscript%3E%00%E2%80%AE", []),
    ],
)
async def test_boards_are_found_by_all_words(front: Front, query: str, expected: list[str]) -> None:
    await front.world.board("plain")
    await problem_of(front, "radix", summary="In place.", difficulty=Difficulty.HARD, tags=("c++",))
    text = (await front.stranger.get(f"/?q={query}")).text
    cards = re.findall(r'<h3><a href="/board/([^"]*)">', text)
    assert (expected, False) == (cards, "<script>" in text or "\u202e" in text)


async def test_a_query_that_is_too_long_is_a_page(front: Front) -> None:
    answer = await front.stranger.get(f"/?q={'x' * 101}")
    assert (422, True) == (answer.status_code, "<h1>" in answer.text)


async def test_what_happens_is_told_of_boards_that_the_visitor_sees(front: Front) -> None:
    await front.world.board("sort")
    await ranked(front.world, 1e-3)
    await front.world.board("hidden")
    await ranked(front.world, 2e-3, board="hidden", author=front.world.bob.user)
    edit = BoardEdit(visibility=Visibility.CLOSED)
    await front.world.services.boards.edit(front.world.admin.user, "hidden", edit)
    texts = [(await one.get("/")).text for one in (front.stranger, front.admin)]
    assert [("1", 1), ("2", 2)] == [
        (
            *re.findall(r"<strong>(\d+)</strong> submissions? in the last", text),
            text.count('<li><span class="number">'),
        )
        for text in texts
    ]


async def test_a_newcomer_is_sent_to_the_board_that_ends_next(front: Front) -> None:
    for name, days in (("later", 9), ("next", 2), ("never", None)):
        deadline = None if days is None else datetime.now(UTC) + timedelta(days=days)
        await front.world.services.boards.create(
            front.world.admin.user,
            sort_problem(name),
            name=name,
            devices=("CPU",),
            deadline=deadline,
        )
    text = (await front.stranger.get("/")).text
    assert '<a class="button" href="/board/next/submit">' in text


async def test_a_deadline_can_be_counted_down(front: Front) -> None:
    deadline = datetime.now(UTC).replace(microsecond=0) + timedelta(days=3, minutes=1)
    await front.world.services.boards.create(
        front.world.admin.user, sort_problem(), name="sort", devices=("CPU",), deadline=deadline
    )
    expected = f'<strong data-until="{deadline:%Y-%m-%dT%H:%M:%SZ}">3 days left</strong>'
    for path in ("/", "/board/sort"):
        assert expected in (await front.stranger.get(path)).text


@pytest.mark.parametrize("has_bot", [False, True])
async def test_discord_is_named_if_there_is_a_bot(front: Front, has_bot: bool) -> None:
    settings = front.app.state.settings
    front.app.state.settings = replace(settings, has_bot=has_bot)
    assert has_bot == ("On Discord" in (await front.stranger.get("/")).text)


async def test_an_ended_board_asks_nobody_to_be_the_first(front: Front) -> None:
    await front.world.board("over")
    await front.world.board("open")
    edit = BoardEdit(deadline=datetime.now(UTC) - timedelta(seconds=1))
    await front.world.services.boards.edit(front.world.admin.user, "over", edit)
    text = (await front.stranger.get("/")).text
    assert [1, 1] == [text.count(one) for one in ("be the first", "It ended without a ranking")]
