"""What the operator says of the bot."""

from dataclasses import dataclass, field

from kernelbot.runs.queue.model import ScriptRules


@dataclass(frozen=True)
class BotRules:
    """`guild_ids`: where the bot works; the roles of their members count on the whole platform."""

    token: str = field(repr=False)
    guild_ids: tuple[int, ...]
    staging_ids: tuple[int, ...] = ()
    """Guilds in which the bot is called by `STAGING_NICK`."""
    api_url: str | None = None
    """Another host that speaks Discord's interface, such as a proxy; None: Discord itself."""
    ready_pause_s: float = 2.0
    """Without a further guild for so long after logging in, the bot counts as ready."""
    retry_s: float = 5.0
    """Before what couldn't be told is tried again; it grows from then on."""
    reconnect_pause_s: float = 30.0
    """The longest between two tries to connect."""
    away_s: float = 40.0
    """Without a connection for so long, it lets another process answer."""
    silence_s: float = 50.0
    """A connection by which nothing comes for so long is gone: Discord answers a heartbeat every
    41 s. So another process may answer within a minute, also if no word tells of the end."""
    scripts: ScriptRules = field(default_factory=ScriptRules)
    edit_pause_s: float = 1.5
    """Between two changes of one message: Discord allows five within five seconds."""


STAGING_NICK = "Cluster Bot (Staging)"
