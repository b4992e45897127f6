"""Discord guilds and what the bot has made in them."""

from dataclasses import asdict, fields

from kernelbot.guilds.model import GuildChannels, GuildSettings
from kernelbot.store.database import ReadSession, WriteSession
from kernelbot.store.sqlfiles import statements

_COLUMNS = tuple(field.name for field in fields(GuildChannels))


async def channels(session: ReadSession, guild_id: int) -> GuildChannels | None:
    """What the bot has in a guild; None: the guild is new."""
    row = await session.one(statements(__file__)["places"], {"guild_id": guild_id})
    return GuildChannels(**{name: row[name] for name in _COLUMNS}) if row else None


async def set_channels(session: WriteSession, guild_id: int, found: GuildChannels) -> None:
    await session.do(statements(__file__)["set_places"], {"guild_id": guild_id, **asdict(found)})


async def settings(session: ReadSession, guild_id: int) -> GuildSettings:
    """What a guild's organisers chose; of a new guild the defaults."""
    row = await session.one(statements(__file__)["settings"], {"guild_id": guild_id})
    return GuildSettings(**row) if row else GuildSettings()


async def set_settings(session: WriteSession, guild_id: int, chosen: GuildSettings) -> bool:
    """Store what was chosen; False: the guild is new."""
    values = {"guild_id": guild_id, **asdict(chosen)}
    return await session.do(statements(__file__)["set_settings"], values) == 1


async def competitions(session: ReadSession) -> list[str]:
    return [row["name"] for row in await session.all(statements(__file__)["competitions"])]


async def knows_time_zone(session: ReadSession, name: str) -> bool:
    """Whether the database can compute with it."""
    return await session.one(statements(__file__)["time_zone"], {"name": name}) is not None
