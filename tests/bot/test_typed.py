"""What a person typed that no database can store: their own mistake, whatever it was typed into."""

import pytest
from structlog.testing import capture_logs

from tests.bot.stage import ADMIN, Stage
from tests.fakes.discord import Upload

pytestmark = pytest.mark.asyncio(loop_scope="module")

_HALF, _NUL = "a\ud800b", "a\x00b"
_SAYS = "❌ What you typed can't be read: it holds "


@pytest.mark.parametrize("typed", [_HALF, _NUL], ids=["half of a pair", "NUL"])
@pytest.mark.parametrize(
    ("command", "option"), [("admin unban", "name"), ("leaderboard watch", "name")]
)
async def test_an_option(stage: Stage, command: str, option: str, typed: str) -> None:
    olga = stage.person("olga", ADMIN)
    with capture_logs() as logs:
        asked = await olga.runs(command, **{option: typed})
    assert asked.original is not None
    assert asked.original.content.startswith(_SAYS)
    assert [] == [line for line in logs if line["log_level"] == "error"]


async def test_a_file_s_name(stage: Stage) -> None:
    await stage.world.board("named")
    ada, script = stage.person("ada"), Upload(f"{_HALF}.py", b"x = 1\n")
    asked = await ada.runs("leaderboard submit test", script=script, leaderboard_name="named")
    assert asked.original is not None
    assert asked.original.content.startswith(_SAYS)


async def test_a_command_that_answers_with_a_form(stage: Stage) -> None:
    ada = stage.person("ada")
    asked = await ada.runs("leaderboard submit test", leaderboard_name=_HALF)
    assert (None, True) == (asked.form, asked.messages[0].content.startswith(_SAYS))


async def test_a_form(stage: Stage) -> None:
    await stage.world.board("pasted")
    ada = stage.person("ada")
    form = await ada.runs("leaderboard submit test", leaderboard_name="pasted")
    sent = await ada.fills_in(form, f"# {_HALF}")
    assert sent.messages[0].content.startswith(_SAYS)


async def test_nothing_is_suggested(stage: Stage) -> None:
    await stage.world.board("suggested")
    ada = stage.person("ada")
    assert [] == await ada.completes("leaderboard watch", "name", _HALF)
    assert "suggested" in await ada.completes("leaderboard watch", "name", "sugg")
