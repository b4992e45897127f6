"""Boards of several devices, one of which is chosen in a menu."""

import asyncio
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from kernelbot.protocol import Mode
from tests.boards.sync.offering import offer
from tests.bot.stage import Stage, open_stage
from tests.bot.test_submit import ended, script, submitted
from tests.bot.transcripts import seen
from tests.fakes.discord import FakeMessage
from tests.support.postgres import TestServer
from tests.support.workers import quick_settings, working

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared_stage(
    postgres: TestServer, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Stage]:
    """With a bot and a worker."""
    settings = quick_settings(tmp_path_factory.mktemp("worker"))
    with postgres.database() as url:
        async with open_stage(url) as stage, stage.running(), working(settings, url):
            yield stage


async def test_of_several_devices_one_is_chosen_and_ten_clicks_submit_once(stage: Stage) -> None:
    await stage.world.board("choice", devices=("CPU", "H100"))
    fay, bob = stage.person("fay"), stage.person("bob")
    asked = await submitted(stage, fay, "test", script("accepted"), leaderboard_name="choice")
    message = asked.original
    assert message is not None
    menu = message.pressed("Choose a GPU")["custom_id"]
    stolen = await bob.presses(message, menu, 3, ("CPU",))
    await stage.discord.until(lambda: stolen.messages)
    assert "❌ This button is someone else's." in stolen.messages[0].content
    clicks = [fay.presses(message, menu, 3, ("CPU",)) for _ in range(10)]
    await asyncio.gather(*clicks)
    await stage.discord.until(lambda: "accepted" in message.content)
    mine = await stage.world.services.submission_lists.own(await stage.acting(fay))
    assert 1 == len(mine)
    assert [] == message.parts()


async def test_a_board_with_the_longest_name_is_submitted_to_in_every_mode(stage: Stage) -> None:
    name = "b" * 64
    await stage.world.board(name, devices=("CPU", "H100"))
    gil = stage.person("gil")
    file = script("accepted")
    asked = await submitted(stage, gil, "ranked", file, leaderboard_name=name)
    assert asked.original is not None
    await gil.chooses(asked.original, "Choose a GPU", "CPU")
    await ended(stage, asked)
    (mine,) = await stage.world.services.submission_lists.own(await stage.acting(gil))
    assert ("leaderboard", name) == (mine.mode, mine.board)


async def test_of_what_is_submitted_nobody_hears_that_it_isnt(stage: Stage) -> None:
    await stage.world.board("unsaid", devices=("CPU", "H100"))
    hal = stage.person("hal")
    asked = await submitted(stage, hal, "test", script("accepted"), leaderboard_name="unsaid")
    assert asked.original is not None
    stage.discord.trouble("/messages/@original", 404)  # as if they had dismissed it
    await hal.chooses(asked.original, "Choose a GPU", "CPU")
    await ended(stage, asked)
    assert "❌" not in seen(stage, hal)


def first_line(message: FakeMessage) -> str:
    return message.content.split("\n")[0]


async def test_who_chooses_gets_that_device_although_a_sync_has_ordered_them_anew(
    stage: Stage,
) -> None:
    await stage.world.board("moved", devices=("CPU", "H100"))
    ida = stage.person("ida")
    asked = await submitted(stage, ida, "test", script("accepted"), leaderboard_name="moved")
    shown = await ida.runs("leaderboard show", name="moved")
    await offer(stage.world, "H100", "CPU", board="moved")
    assert asked.original is not None
    assert shown.original is not None
    await ida.chooses(asked.original, "Choose a GPU", "CPU")
    await ida.chooses(shown.original, "Choose a GPU", "CPU")
    await ended(stage, asked)
    (mine,) = await stage.world.services.submission_lists.own(await stage.acting(ida))
    assert ["CPU"] == [run.device for run in mine.runs]
    assert "**moved** on CPU: 0 ranked" == first_line(shown.original)


async def test_another_page_is_of_the_same_device_although_a_sync_has_ordered_them_anew(
    stage: Stage,
) -> None:
    name, devices = "m" * 64, ("CPU", "H100")
    await stage.world.board(name, devices=devices)
    jan = stage.person("jan")
    author = await stage.acting(jan)
    for _ in range(11):
        await stage.world.submit(author, board=name, mode=Mode.TEST, devices=devices[1:])
    asked = await jan.runs("leaderboard show-personal", name=name)
    assert asked.original is not None
    await jan.chooses(asked.original, "Choose a GPU", devices[1])
    await offer(stage.world, devices[1], "CPU", board=name)
    await jan.clicks(asked.original, "Next")
    assert f"Your submissions on **{name}** on {devices[1]}" == first_line(asked.original)


async def test_a_device_that_the_board_no_longer_offers_is_said(stage: Stage) -> None:
    await stage.world.board("fewer", devices=("CPU", "H100"))
    kim = stage.person("kim")
    shown = await kim.runs("leaderboard show", name="fewer")
    asked = await submitted(stage, kim, "test", script("accepted"), leaderboard_name="fewer")
    await offer(stage.world, "H100", board="fewer")
    assert asked.original is not None
    assert shown.original is not None
    clicked = await kim.chooses(shown.original, "Choose a GPU", "CPU")
    assert (
        clicked.messages[0].content
        == "❌ Board 'fewer' no longer offers that device.\nIt offers: H100."
    )
    clicked = await kim.chooses(asked.original, "Choose a GPU", "CPU")
    assert clicked.messages[0].content == "❌ Board 'fewer' doesn't offer 'CPU'.\nIt offers: H100."
