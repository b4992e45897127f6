"""The channels and roles that the bot makes in a guild: once, then found by their ids."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TypeVar

import discord
import structlog

from kernelbot.guilds.model import GuildChannels
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
_FULL = {
    30013: "this server has 500 channels, the most that Discord allows",
    30005: "this server has 250 roles, the most that Discord allows",
}
"""Discord's codes for what a guild can't have more of."""
Place = TypeVar("Place", discord.CategoryChannel, discord.ForumChannel, discord.TextChannel)
AnyMade = TypeVar("AnyMade")
log = structlog.get_logger()


@dataclass(frozen=True)
class GuildSetup:
    """What a guild has, and for each place that couldn't be made, why."""

    places: GuildChannels
    lacks: tuple[str, ...] = ()


async def create_guild_channels(services: Services, guild: discord.Guild) -> GuildSetup:
    """Make what is missing in the guild, each place by itself, and store what there is. What can't
    be made stays None; commands work without it."""
    before = await services.guilds.places(guild.id)
    making = _Making(guild, before or GuildChannels())
    found = await making.all_of_them()
    if found != before:
        await services.guilds.set_places(guild.id, found)
    if making.lacks:
        log.error("guild_incomplete", guild=guild.id, missing="; ".join(making.lacks))
    return GuildSetup(found, tuple(making.lacks))


@dataclass
class _Making:
    """One go through all places. `lacks`: what couldn't be made, and why."""

    guild: discord.Guild
    known: GuildChannels
    lacks: list[str] = field(default_factory=list)

    async def all_of_them(self) -> GuildChannels:
        """What there is in the end."""
        known = self.known
        category = await self._category()
        return GuildChannels(
            category_id=category.id if category else None,
            forum_id=await self._forum(category),
            submissions_id=await self._text(SUBMISSIONS, known.submissions_id, category),
            general_id=await self._text(GENERAL, known.general_id, category),
            admin_role_id=await self._role(ADMIN, known.admin_role_id),
            creator_role_id=await self._role(CREATOR, known.creator_role_id),
            participant_role_id=await self._role(PARTICIPANT, known.participant_role_id),
        )

    async def _category(self) -> discord.CategoryChannel | None:
        found = next((one for one in self.guild.categories if one.name == CATEGORY), None)
        if self.known.category_id is not None:
            found = _by_id(self.guild.categories, self.known.category_id)
        make = self.guild.create_category
        return found or await self._made(
            f"category {CATEGORY}", "Manage Channels", lambda: make(CATEGORY, reason=_REASON)
        )

    async def _forum(self, category: discord.CategoryChannel | None) -> int | None:
        found = _known(self.guild.forums, self.known.forum_id, FORUM, category)
        make = self.guild.create_forum
        found = found or await self._made(
            f"forum {FORUM}",
            "Manage Channels",
            lambda: make(FORUM, topic=_TOPICS[FORUM], category=category, reason=_REASON),
        )
        return found.id if found else None

    async def _text(
        self, name: str, known_id: int | None, category: discord.CategoryChannel | None
    ) -> int | None:
        found = _known(self.guild.text_channels, known_id, name, category)
        make = self.guild.create_text_channel
        found = found or await self._made(
            f"channel {name}",
            "Manage Channels",
            lambda: make(name, topic=_TOPICS[name], category=category, reason=_REASON),
        )
        return found.id if found else None

    async def _role(self, name: str, known_id: int | None) -> int | None:
        """Roles are made, never taken over: whoever gave people a role of the same name before
        didn't mean the platform's rights by it."""
        if known_id is not None and self.guild.get_role(known_id) is not None:
            return known_id
        nothing, make = discord.Permissions.none(), self.guild.create_role
        made = await self._made(
            f"role {name}",
            "Manage Roles",
            lambda: make(name=name, permissions=nothing, reason=_REASON),
        )
        return made.id if made else None

    async def _made(
        self, what: str, needs: str, make: Callable[[], Awaitable[AnyMade]]
    ) -> AnyMade | None:
        try:
            return await make()
        except discord.Forbidden:
            self.lacks.append(f"{what}: the bot lacks the permission {needs}")
        except discord.HTTPException as error:
            self.lacks.append(f"{what}: {_FULL.get(error.code) or reason_of(error)}")
        return None


def reason_of(error: discord.HTTPException) -> str:
    """Discord's own words, in one line."""
    return ": ".join((error.text or str(error)).splitlines())


def _by_id(places: list[Place], known_id: int) -> Place | None:
    return next((place for place in places if place.id == known_id), None)


def _known(
    places: list[Place], known_id: int | None, name: str, category: discord.CategoryChannel | None
) -> Place | None:
    """The one of this id, whatever it is called by now; at the first start, one of this name in
    our category. Elsewhere a name means nothing."""
    if known_id is not None:
        return _by_id(places, known_id)
    if category is None:
        return None
    within = [place for place in places if place.category_id == category.id]
    return next((place for place in within if place.name == name), None)
