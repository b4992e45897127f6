"""`kernelbot doctor --discord`: whether the bot can work in its servers, and what to do if not."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import discord

from kernelbot.bot.client import intents
from kernelbot.bot.places import FORUM, GENERAL, SUBMISSIONS
from kernelbot.bot.rules import BotRules
from kernelbot.domain.errors import KernelbotError
from kernelbot.render.advice import error_text
from kernelbot.render.text import counted
from kernelbot.server.bot import bot_rules, logged_in
from kernelbot.server.doctor import DoctorPart
from kernelbot.server.settings import read_settings

_NEEDED = {
    "manage_channels": "Manage Channels",
    "manage_roles": "Manage Roles",
    "view_channel": "View Channels",
    "send_messages": "Send Messages",
    "create_public_threads": "Create Public Threads",
    "send_messages_in_threads": "Send Messages in Threads",
    "attach_files": "Attach Files",
    "read_message_history": "Read Message History",
}
_INVITE = "open the invitation of docs/how-to/discord.md, step 2, again"


def examine_discord() -> list[DoctorPart]:
    """Ask Discord about the token, the intents, and each server: permissions, scopes, channels.
    Nothing is changed there."""
    try:
        rules = bot_rules(read_settings())
    except KernelbotError as error:
        return [DoctorPart("settings", False, True, None, error_text(error))]
    return asyncio.run(examine_bot(rules))


async def examine_bot(rules: BotRules) -> list[DoctorPart]:
    """Examine as `examine_discord` does, for a bot with these rules."""
    try:
        async with logged_in(discord.Client(intents=intents()), rules) as client:
            return [part async for part in _parts(client, rules)]
    except KernelbotError as error:
        return [DoctorPart("token", False, True, None, error_text(error))]


async def _parts(client: discord.Client, rules: BotRules) -> AsyncIterator[DoctorPart]:
    assert client.user is not None, "it is logged in"
    yield DoctorPart("token", True, True, None, f"it is {client.user.name}'s")
    assert client.application is not None, "it is logged in"
    flags = client.application.flags
    page = "switch it on at https://discord.com/developers/applications, page Bot"
    members = flags.gateway_guild_members or flags.gateway_guild_members_limited
    content = flags.gateway_message_content or flags.gateway_message_content_limited
    for name, on in (("Server Members", members), ("Message Content", content)):
        yield DoctorPart(f"intent {name}", on, True, None, "on" if on else page)
    for guild_id in rules.guild_ids:
        async for part in _guild(client, guild_id):
            yield part


async def _guild(client: discord.Client, guild_id: int) -> AsyncIterator[DoctorPart]:
    http, name = client.http, f"server {guild_id}"
    assert client.user is not None, "it is logged in"
    assert client.application_id is not None, "it is logged in"
    try:
        guild = await http.get_guild(guild_id, with_counts=False)
        member = await http.get_member(guild_id, client.user.id)
        channels = await http.get_all_guild_channels(guild_id)
    except (discord.Forbidden, discord.NotFound):
        yield DoctorPart(
            name, False, True, None, f"the bot isn't in it: {_INVITE}, or correct the id"
        )
        return
    yield DoctorPart(name, True, True, None, guild["name"])
    try:
        commands = await http.get_guild_commands(client.application_id, guild_id)
        note = f"registered: {counted(len(commands), 'command')}"
        yield DoctorPart("  scope applications.commands", True, True, None, note)
    except discord.Forbidden:
        yield DoctorPart("  scope applications.commands", False, True, None, _INVITE)
    allowed = _permissions(guild_id, guild["roles"], member["roles"])
    for key, title in _NEEDED.items():
        there = bool(allowed.administrator or getattr(allowed, key))
        note = "given" if there else "give it to the bot's role"
        yield DoctorPart(f"  permission {title}", there, True, None, note)
    names = {channel["name"] for channel in channels}
    for wanted in (FORUM, SUBMISSIONS, GENERAL):
        note = "there" if wanted in names else "made at the next start, if it wasn't renamed"
        yield DoctorPart(f"  channel {wanted}", wanted in names, False, None, note)


def _permissions(guild_id: int, roles: Any, mine: Any) -> discord.Permissions:
    """What the bot's roles allow together; everyone has the role with the server's id."""
    held = {str(guild_id), *(str(role) for role in mine)}
    value = 0
    for role in roles:
        if str(role["id"]) in held:
            value |= int(role["permissions"])
    return discord.Permissions(value)
