"""`kernelbot serve` with all that it starts: worker and Discord bot, while boards are synced."""

import asyncio
from pathlib import Path

import pytest
from scripts.local_server import LocalServer

from kernelbot.boards.sync.model import SyncOptions
from kernelbot.client import KernelbotClient
from kernelbot.protocol import Mode
from tests.fakes.discord import fake_discord
from tests.server.test_bot import environment, pinged
from tests.support.problem_sets import commit_all, write_competition, write_problem

pytestmark = pytest.mark.exhaustive  # test_serve.py has a server at each run, test_bot.py the bot


def _synced(server: LocalServer, root: Path) -> list[str]:
    with KernelbotClient.to(server.own_endpoint()) as client:
        outcome = client.organise.sync(f"file://{root}", None, SyncOptions())
    return [str(item.action) for item in outcome.items]


def _judged(server: LocalServer) -> str | None:
    with KernelbotClient.to(server.own_endpoint()) as client:
        text = b"# fake: accepted 0.5\n"
        submitted = client.submit("a.py", text, board="one", mode=Mode.LEADERBOARD)
        list(client.events(submitted.id))
        return client.submission(submitted.id).verdict


async def test_a_sync_ends_and_a_submission_is_judged_and_announced_while_the_bot_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "set"
    write_problem(root, "one")
    write_competition(root, "one")
    commit_all(root)
    async with fake_discord() as discord:
        ada = discord.person("ada", guild := discord.guild())
        for name, value in environment(discord, guild, tmp_path).items():
            monkeypatch.setenv(name, value)
        server = LocalServer(tmp_path / "server", config=tmp_path / "kernelbot.toml")
        await asyncio.to_thread(server.__enter__)
        try:
            await pinged(discord, ada)
            assert ["create"] == await asyncio.to_thread(_synced, server, root)
            assert "accepted" == await asyncio.to_thread(_judged, server)
            # The board's own thread, and that somebody leads it.
            await discord.until(lambda: "bot in thread one" in discord.transcript.text, within_s=60)
            await discord.until(
                lambda: any(
                    entry.text.startswith("bot in #general") and "**one**" in entry.text
                    for entry in discord.transcript.entries
                ),
                within_s=60,
            )
        finally:
            await asyncio.to_thread(server.stop)
    assert [] == server.leftovers
