"""The home page."""

from datetime import UTC, datetime, timedelta

import pytest

from kernelbot.boards.model import Visibility
from kernelbot.boards.service import BoardEdit
from tests.support.front import Front
from tests.support.problems import sort_problem


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
    places = [text.index(word) for word in (">Active", ">runs<", ">Practice", ">practice<")]
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
