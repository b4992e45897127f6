"""Discord guilds: who their members are here, and what the bot has made in them."""

from dataclasses import asdict, replace
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from kernelbot.accounts import store as users
from kernelbot.accounts.logins.model import Registration
from kernelbot.accounts.logins.providers import ProviderPerson
from kernelbot.accounts.model import Role, User
from kernelbot.accounts.permissions import require_admin
from kernelbot.accounts.registration import enter
from kernelbot.domain.errors import NotFound
from kernelbot.guilds import store as guilds
from kernelbot.guilds.model import GuildChannels, GuildMember, GuildSettings
from kernelbot.moderation.audit import service as audit
from kernelbot.store.database import Database

PROVIDER = "discord"
"""The provider of the members' identities; who logs in with Discord elsewhere has the same account.
"""
_NAMED = 10
_ORDER = (Role.COMPETITOR, Role.CREATOR, Role.ADMIN)
"""From the least to the most that one may do."""


class Guilds:
    """Only guilds of the operator's configuration may be named here: the roles of their members
    count on the whole platform."""

    def __init__(self, database: Database, registration: Registration) -> None:
        self._database = database
        self._registration = registration

    async def acting(self, member: GuildMember) -> User:
        """The account that a member acts as, created the first time. They may do what their account
        may or what their roles in the guild say, whichever is more, while they have those roles.
        Banned people act as competitors.

        Raises `NotAllowed` if they have no account and nobody may register.
        """
        subject = str(member.user_id)
        async with self._database.read() as session:
            user = await users.by_identity(session, PROVIDER, subject)
            places = await guilds.channels(session, member.guild_id)
        if user is None:
            async with self._database.write() as session:
                await users.lock_identities(session)
                person = ProviderPerson(subject, member.name)
                user = await enter(session, self._registration, PROVIDER, person)
        if user.banned_at is not None:
            return replace(user, role=Role.COMPETITOR)
        given = role_in_guild(places or GuildChannels(), member)
        return replace(user, role=max(user.role, given, key=_ORDER.index))

    async def account(self, user_id: int) -> User | None:
        """The account that is linked to a person at Discord, as such, whatever their roles in a
        guild; None: there is none, or none any more. Banned people act as competitors."""
        async with self._database.read() as session:
            user = await users.by_identity(session, PROVIDER, str(user_id))
        if user is None or user.banned_at is None:
            return user
        return replace(user, role=Role.COMPETITOR)

    async def places(self, guild_id: int) -> GuildChannels | None:
        """What the bot has in a guild; None: the guild is new."""
        async with self._database.read() as session:
            return await guilds.channels(session, guild_id)

    async def set_places(self, guild_id: int, places: GuildChannels) -> None:
        async with self._database.write() as session:
            await guilds.set_channels(session, guild_id, places)

    async def settings(self, guild_id: int) -> GuildSettings:
        """What a guild's organisers chose; of a new guild the defaults."""
        async with self._database.read() as session:
            return await guilds.settings(session, guild_id)

    async def change_settings(self, actor: User, guild_id: int, chosen: GuildSettings) -> None:
        """Choose. Raises `NotAllowed`, and `NotFound` for an unknown competition, time zone or
        guild."""
        require_admin(actor)
        async with self._database.write() as session:
            known = await guilds.competitions(session)
            if chosen.competition is not None and chosen.competition not in known:
                raise NotFound(
                    f"There is no competition named {chosen.competition!r}.",
                    hint=f"There is: {', '.join(known[:_NAMED]) or 'none'}.",
                )
            zone = chosen.time_zone
            if not can_be_zone(zone) or not await guilds.knows_time_zone(session, zone):
                raise NotFound(
                    f"There is no time zone named {zone!r}.", hint="Write it as Europe/Berlin."
                )
            if not await guilds.set_settings(session, guild_id, chosen):
                raise NotFound("The bot hasn't prepared this server yet.", hint="Try again soon.")
            await audit.record(session, actor, "guild.edit", f"guild:{guild_id}", asdict(chosen))

    async def competitions(self) -> list[str]:
        async with self._database.read() as session:
            return await guilds.competitions(session)


def can_be_zone(name: str) -> bool:
    """Whether Python knows a time zone of this name."""
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return False
    return True


def role_in_guild(places: GuildChannels, member: GuildMember) -> Role:
    """What the member's roles in the guild allow. The roles are known by their ids: another role
    of the same name allows nothing."""
    if places.admin_role_id in member.role_ids:
        return Role.ADMIN
    return Role.CREATOR if places.creator_role_id in member.role_ids else Role.COMPETITOR
