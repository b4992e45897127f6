"""The channels and roles that the bot makes in a guild: once, then found by their ids."""

from dataclasses import replace
from typing import TypeVar

import discord
import structlog

from kernelbot.domain.guilds import GuildPlaces
from kernelbot.services import Services

CATEGORY = "Leaderboards"
FORUM, SUBMISSIONS, GENERAL = "central", "submissions", "general"
ADMIN, CREATOR, PARTICIPANT = (
    "Leaderboard Admin",
    "Leaderboard Creator",
    "Leaderboard Participant",
)
_TOPICS = {
    SUBMISSIONS: "Submit here: /leaderboard submit. New places are told here.",
    GENERAL: "About the leaderboards. Changes at the top are told here.",
    FORUM: "One thread per leaderboard.",
}
_REASON = "KernelBot's set-up"
Place = TypeVar("Place", discord.CategoryChannel, discord.ForumChannel, discord.TextChannel)
log = structlog.get_logger()


async def make_places(services: Services, guild: discord.Guild) -> GuildPlaces:
    """Make what is missing in the guild, and store what there is. What the bot may not make stays
    None; commands work without it."""
    before = await services.guilds.places(guild.id)
    found = await _roles(guild, await _channels(guild, before or GuildPlaces()))
    if found != before:
        await services.guilds.set_places(guild.id, found)
    missing = [name for name, value in vars(found).items() if value is None]
    if missing:
        log.warning("guild_incomplete", guild=guild.id, missing=", ".join(missing))
    return found


async def _channels(guild: discord.Guild, known: GuildPlaces) -> GuildPlaces:
    try:
        category = _known(guild.categories, known.category_id, CATEGORY)
        category = category or await guild.create_category(CATEGORY, reason=_REASON)
        known = replace(known, category_id=category.id)
        forum = _known(guild.forums, known.forum_id, FORUM, category)
        forum = forum or await guild.create_forum(
            FORUM, topic=_TOPICS[FORUM], category=category, reason=_REASON
        )
        known = replace(known, forum_id=forum.id)
        submissions = await _text(guild, known.submissions_id, SUBMISSIONS, category)
        known = replace(known, submissions_id=submissions.id)
        general = await _text(guild, known.general_id, GENERAL, category)
        return replace(known, general_id=general.id)
    except discord.Forbidden:
        log.warning("guild_without_permission", guild=guild.id, needs="Manage Channels")
        return known


async def _text(
    guild: discord.Guild, known_id: int | None, name: str, category: discord.CategoryChannel
) -> discord.TextChannel:
    found = _known(guild.text_channels, known_id, name, category)
    return found or await guild.create_text_channel(
        name, topic=_TOPICS[name], category=category, reason=_REASON
    )


async def _roles(guild: discord.Guild, known: GuildPlaces) -> GuildPlaces:
    """Roles are made, never taken over: whoever gave people a role of the same name before didn't
    mean the platform's rights by it."""
    try:
        admin = await _role(guild, known.admin_role_id, ADMIN)
        known = replace(known, admin_role_id=admin)
        creator = await _role(guild, known.creator_role_id, CREATOR)
        known = replace(known, creator_role_id=creator)
        participant = await _role(guild, known.participant_role_id, PARTICIPANT)
        return replace(known, participant_role_id=participant)
    except discord.Forbidden:
        log.warning("guild_without_permission", guild=guild.id, needs="Manage Roles")
        return known


async def _role(guild: discord.Guild, known_id: int | None, name: str) -> int:
    if known_id is not None and guild.get_role(known_id) is not None:
        return known_id
    made = await guild.create_role(
        name=name, permissions=discord.Permissions.none(), reason=_REASON
    )
    return made.id


def _known(
    places: list[Place],
    known_id: int | None,
    name: str,
    category: discord.CategoryChannel | None = None,
) -> Place | None:
    """The one of this id, whatever it is called by now; at the first start, one of this name."""
    by_id = next((place for place in places if place.id == known_id), None)
    if by_id is not None or known_id is not None:
        return by_id
    within = [place for place in places if category is None or place.category_id == category.id]
    return next((place for place in within if place.name == name), None)
