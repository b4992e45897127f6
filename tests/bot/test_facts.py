"""The fake's Discord and the bot, beside what Discord publishes of its interface."""

import time

import aiohttp
import pytest

from tests.bot.stage import Stage
from tests.fakes.discord import BOT_TOKEN, answers, facts, rest

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_the_fake_has_routes_that_discord_has() -> None:
    served = {
        (one.method, one.path.removeprefix(rest.API))
        for one in [*rest.routes(), *answers.routes()]
        if one.path.startswith(rest.API)
    }
    assert set(facts.ROUTES) == served


@pytest.mark.parametrize(
    ("path", "query", "body", "said"),
    [
        ("/channels/{channel}/messages", [], {"content": "", "nonce": "1", "tts": True}, []),
        ("/webhooks/{app}/{token}", ["wait"], {"content": "", "nonce": "1"}, ["body nonce"]),
        ("/channels/{channel}/threads", [], {"message": {}}, ["body without name"]),
        (
            "/channels/{channel}/threads",
            [],
            {"name": "x", "message": {"nonce": "1"}},
            ["message nonce"],
        ),
        ("/guilds/{guild}/roles", ["limit"], {"name": "x"}, ["query limit"]),
        ("/elsewhere", [], None, ["no such route"]),
    ],
)
async def test_a_request_that_discord_would_not_take_is_named(
    path: str, query: list[str], body: object, said: list[str]
) -> None:
    found = facts.request_faults("POST", path, query, body)
    assert [f"POST {path}: {one}" for one in said] == found


async def test_an_answer_that_discord_would_not_give_is_named() -> None:
    path = "/channels/{channel}/threads"
    assert [f"POST {path}: 200 for 201"] == facts.answer_faults("POST", path, 200, {})
    assert ["POST /users/@me/channels: user without flags"] == facts.answer_faults(
        "POST",
        "/users/@me/channels",
        200,
        {
            "flags": 0,
            "id": "1",
            "type": 1,
            "recipients": [dict.fromkeys(set(facts.ANSWERS["user"].split()) - {"flags"})],
        },
    )


async def test_every_reading_route_answers_as_discord_does(stage: Stage) -> None:
    person = stage.person("ada")
    names = {
        "app": stage.discord.application_id,
        "guild": stage.guild.id,
        "channel": stage.guild.channel("general").id,
        "user": person.user.id,
    }
    headers = {"Authorization": f"Bot {BOT_TOKEN}"}
    async with aiohttp.ClientSession(stage.discord.url, headers=headers) as client:
        for method, path in facts.ROUTES:
            if method == "GET" and "{token}" not in path:
                async with client.get(rest.API + path.format(**names)) as answer:
                    assert (path, 200) == (path, answer.status)
                    assert int(answer.headers["X-RateLimit-Remaining"]) >= 0
    assert [] == stage.discord.contradictions


async def test_a_bucket_that_is_empty_is_said_and_refilled(stage: Stage) -> None:
    headers = {"Authorization": f"Bot {BOT_TOKEN}"}
    path = f"{rest.API}/users/{stage.person('ada').user.id}"
    before_s, stage.discord.buckets.window_s = stage.discord.buckets.window_s, 600.0
    async with aiohttp.ClientSession(stage.discord.url, headers=headers) as client:
        left, status = 1, 200
        while status == 200:
            async with client.get(path) as answer:
                status, said = answer.status, await answer.json()
                left = int(answer.headers["X-RateLimit-Remaining"])
                reset_s = float(answer.headers["X-RateLimit-Reset"])
        async with client.get(f"{rest.API}/users/@me") as other:
            assert 200 == other.status
    stage.discord.buckets.window_s = before_s
    assert (429, 0, "user") == (status, left, answer.headers["X-RateLimit-Scope"])
    assert {"message", "retry_after", "global", "code"} == set(said)
    assert reset_s == pytest.approx(time.time() + said["retry_after"], abs=60)
