"""Discord guilds that the platform's bot serves, and their members."""

from dataclasses import dataclass


@dataclass(frozen=True)
class GuildPlaces:
    """The channels and roles of a guild by Discord's ids. None: it isn't there yet."""

    category_id: int | None = None
    forum_id: int | None = None
    submissions_id: int | None = None
    general_id: int | None = None
    admin_role_id: int | None = None
    creator_role_id: int | None = None
    participant_role_id: int | None = None


@dataclass(frozen=True)
class GuildMember:
    """Someone in a guild, as Discord says: `name` may change, `user_id` never does."""

    guild_id: int
    user_id: int
    name: str
    role_ids: frozenset[int]
