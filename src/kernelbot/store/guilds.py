"""Discord guilds and what the bot has made in them."""

from dataclasses import asdict, fields

from kernelbot.domain.guilds import GuildPlaces
from kernelbot.store.database import ReadSession, WriteSession
from kernelbot.store.sqlfiles import statements

_COLUMNS = tuple(field.name for field in fields(GuildPlaces))


async def places(session: ReadSession, guild_id: int) -> GuildPlaces | None:
    """What the bot has in a guild; None: the guild is new."""
    row = await session.one(statements("guilds")["places"], {"guild_id": guild_id})
    return GuildPlaces(**{name: row[name] for name in _COLUMNS}) if row else None


async def set_places(session: WriteSession, guild_id: int, found: GuildPlaces) -> None:
    """Store what the bot has in a guild."""
    await session.do(statements("guilds")["set_places"], {"guild_id": guild_id, **asdict(found)})
