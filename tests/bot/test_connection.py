"""The connection to Discord: what breaks it, and what the bot does then."""

import asyncio
import time
from dataclasses import replace
from functools import partial

import pytest
from structlog.testing import capture_logs

from kernelbot.bot.connecting import LEAST_S, Presence
from kernelbot.bot.rules import BotRules
from kernelbot.domain.errors import Unavailable, UserError
from tests.bot.stage import Stage, open_stage
from tests.fakes.discord import answers
from tests.support.postgres import TestServer
from tests.support.virtual_time import run_virtually

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_a_dropped_connection_is_resumed(stage: Stage) -> None:
    ada, gateway = stage.person("ada"), stage.discord.gateway
    await gateway.drop()
    asked = await ada.starts("ping", channel="general")  # it waits at Discord until the bot is back
    await stage.discord.until(lambda: asked.messages)
    assert (1, 1) == (gateway.counts["identify"], gateway.counts["resume"])


@pytest.mark.parametrize(("silent_s", "expected_s"), [(0.0, 40.0), (30.0, 10.0), (50.0, 5.0)])
async def test_silence_counts_as_absence_but_for_a_few_tries(
    monkeypatch: pytest.MonkeyPatch, silent_s: float, expected_s: float
) -> None:
    async def missing() -> float:
        presence, clock = Presence(), asyncio.get_running_loop().time
        await asyncio.sleep(100)
        presence.begins()
        presence.ends(silent_s)
        start_s = clock()
        await presence.missing_for(40.0)
        return clock() - start_s

    virtually = partial(run_virtually, monkeypatch, missing)
    assert expected_s == pytest.approx(await asyncio.to_thread(virtually))


async def test_the_lock_is_given_up_within_a_minute() -> None:
    rules = BotRules("token", ())
    assert 41.25 + 5 < rules.silence_s <= 60 - LEAST_S


async def test_a_request_to_reconnect_is_followed(stage: Stage) -> None:
    ada, gateway = stage.person("ada"), stage.discord.gateway
    before = gateway.counts["resume"]
    await gateway.ask_to_reconnect()
    await stage.discord.until(lambda: gateway.counts["resume"] > before)
    assert (await ada.runs("ping")).original is not None


async def test_however_often_the_gateway_refuses_it_is_asked_again_soon(stage: Stage) -> None:
    ada, gateway = stage.person("ada"), stage.discord.gateway
    identified = gateway.counts["identify"]
    gateway.refuses = 14
    await gateway.drop()
    asked = await ada.starts("ping", channel="general")
    await stage.discord.until(lambda: asked.messages)
    assert (0, identified) == (gateway.refuses, gateway.counts["identify"]), "it was resumed"


async def test_heartbeats_are_sent(stage: Stage) -> None:
    assert stage.discord.gateway.counts["heartbeat"] >= 1


async def test_a_rate_limit_is_obeyed(stage: Stage) -> None:
    ada, discord = stage.person("ada"), stage.discord
    discord.trouble("/webhooks/", 429, after_s=0.2)
    asked = await ada.runs("ping")
    waited_s = time.monotonic() - discord.limited_at_s[-1]
    assert asked.original is not None
    assert waited_s >= 0.2
    assert asked.acknowledged_s is not None
    assert asked.acknowledged_s < discord.limited_at_s[-1], "it doesn't wait for what is limited"


async def test_an_acknowledgement_too_late_is_reported(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada = stage.person("ada")
    monkeypatch.setattr(answers, "ACK_LIMIT_S", 0.0)
    with capture_logs() as logs:
        await ada.starts("leaderboard list")
        await stage.discord.until(lambda: stage.discord.late)
        monkeypatch.undo()
        assert (await ada.runs("ping")).original is not None, "the bot goes on"
    (late,) = [entry for entry in logs if entry["event"] == "interaction_too_late"]
    assert ("leaderboard list", "error") == (late["command"], late["log_level"])


async def test_a_command_that_is_no_more(stage: Stage) -> None:
    ada = stage.person("ada")
    stage.guild.commands.append({"id": "1", "name": "old", "type": 1})
    asked = await ada.runs("old")
    stage.guild.commands.pop()
    assert asked.original is not None
    assert "Reload Discord" in asked.original.content


async def test_a_connection_that_has_gone_silent_is_replaced(postgres: TestServer) -> None:
    with postgres.database() as url:
        async with open_stage(url) as stage:
            stage.rules = replace(stage.rules, silence_s=2.0)
            async with stage.running():
                stage.discord.gateway.hush()
                asked = await stage.person("ada").starts("ping", channel="general")
                await stage.discord.until(lambda: asked.messages, within_s=60)


async def test_a_gateway_that_refuses_at_first(postgres: TestServer) -> None:
    with postgres.database() as url:
        async with open_stage(url) as stage:
            stage.discord.gateway.refuses = 2
            async with stage.running():
                assert (await stage.person("ada").runs("ping")).original is not None


async def test_a_wrong_token_is_refused(postgres: TestServer) -> None:
    with postgres.database() as url:
        async with open_stage(url) as stage:
            rules = stage.rules
            stage.rules = type(rules)("wrong", rules.guild_ids, api_url=rules.api_url)
            with pytest.raises(UserError, match="refuses the bot's token"):
                async with stage.running():
                    pass
            assert "wrong" not in repr(stage.rules)


async def test_missing_intents_are_named(postgres: TestServer) -> None:
    with postgres.database() as url:
        async with open_stage(url) as stage:
            stage.discord.gateway.allowed = {"members"}
            with pytest.raises(UserError, match="Server Members and Message Content"):
                async with stage.running():
                    pass


async def test_no_discord_at_all(postgres: TestServer) -> None:
    with postgres.database() as url:
        async with open_stage(url) as stage:
            rules = stage.rules
            stage.rules = type(rules)("t", rules.guild_ids, api_url="http://127.0.0.1:1")
            with pytest.raises(Unavailable, match="can't be reached"):
                async with stage.running():
                    pass
