"""What there is at Discord, and how it looks on the wire."""

import itertools
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

Wire = dict[str, Any]
"""A JSON object as Discord sends or receives it."""

TEXT, CATEGORY, THREAD, FORUM, DIRECT = 0, 4, 11, 15, 1
"""Types of channels."""
EPHEMERAL, LOADING = 1 << 6, 1 << 7
MANAGE_CHANNELS, MANAGE_ROLES, SEND_MESSAGES = 1 << 4, 1 << 28, 1 << 11
EVERYTHING = (1 << 50) - 1
_UNSET = (
    *("afk_channel_id", "application_id", "banner", "description", "discovery_splash"),
    *("home_header", "icon", "incidents_data", "max_presences", "public_updates_channel_id"),
    *("region", "rules_channel_id", "safety_alerts_channel_id", "splash", "system_channel_id"),
    *("vanity_url_code", "widget_channel_id"),
)
_COUNTS: Wire = {
    "afk_timeout": 300,
    "max_members": 500_000,
    "max_stage_video_channel_users": 50,
    "max_video_channel_users": 25,
    "nsfw": False,
    "premium_progress_bar_enabled": False,
    "premium_subscription_count": 0,
    "widget_enabled": False,
}
"""Of a guild."""
_EPOCH_MS = 1_420_070_400_000
_numbers = itertools.count()


def snowflake() -> int:
    """A new id, which contains the time as Discord's do."""
    return ((int(time.time() * 1000) - _EPOCH_MS) << 22) + next(_numbers) % (1 << 22)


def _now() -> str:
    return datetime.now(UTC).isoformat()


@dataclass
class Upload:
    """A file that a person attaches. `claimed_bytes`: the size that Discord says it has."""

    name: str
    content: bytes
    media_type: str | None = "text/plain"
    claimed_bytes: int | None = None
    id: int = field(default_factory=snowflake)

    def wire(self, base_url: str) -> Wire:
        """As an attachment."""
        size = len(self.content) if self.claimed_bytes is None else self.claimed_bytes
        url = f"{base_url}/attachments/{self.id}/file"
        shown: Wire = {"id": str(self.id), "filename": self.name, "size": size}
        shown |= {"url": url, "proxy_url": url}
        return shown | ({"content_type": self.media_type} if self.media_type else {})


@dataclass
class FakeRole:
    """A role of a guild."""

    id: int
    name: str
    permissions: int = 0

    def wire(self) -> Wire:
        """As Discord shows it."""
        return {
            "id": str(self.id),
            "name": self.name,
            "permissions": str(self.permissions),
            "color": 0,
            "colors": {"primary_color": 0, "secondary_color": None, "tertiary_color": None},
            "hoist": False,
            "position": 1,
            "managed": False,
            "mentionable": False,
            "icon": None,
            "unicode_emoji": None,
            "flags": 0,
        }


@dataclass
class FakeUser:
    """A person or the bot, with their roles in the guild that they are in."""

    id: int
    name: str
    bot: bool = False
    roles: set[int] = field(default_factory=set)
    direct_messages: bool = True
    """Whether they accept direct messages."""

    def wire(self) -> Wire:
        """As Discord shows them."""
        return {
            "id": str(self.id),
            "username": self.name,
            "global_name": None,
            "discriminator": "0",
            "avatar": None,
            "bot": self.bot,
            "flags": 0,
            "public_flags": 0,
        }

    def member(self, permissions: int = 0, nick: str | None = None) -> Wire:
        """As a member of the guild."""
        return {
            "user": self.wire(),
            "nick": nick,
            "roles": [str(role) for role in sorted(self.roles)],
            "joined_at": "2026-01-01T00:00:00+00:00",
            "deaf": False,
            "mute": False,
            "flags": 0,
            "avatar": None,
            "banner": None,
            "pending": False,
            "premium_since": None,
            "communication_disabled_until": None,
            "permissions": str(permissions),
        }


@dataclass
class FakeMessage:
    """A message. `only_for`: the one person who sees it; None: everyone in the channel."""

    id: int
    channel_id: int
    author: FakeUser
    content: str = ""
    components: list[Wire] = field(default_factory=list)
    files: list[Upload] = field(default_factory=list)
    embeds: list[Wire] = field(default_factory=list)
    only_for: int | None = None
    edits: int = 0
    deleted: bool = False

    def wire(self, base_url: str) -> Wire:
        """As Discord shows it."""
        return {
            "id": str(self.id),
            "channel_id": str(self.channel_id),
            "author": self.author.wire(),
            "content": self.content,
            "timestamp": _now(),
            "edited_timestamp": _now() if self.edits else None,
            "tts": False,
            "mention_everyone": False,
            "mentions": [],
            "mention_roles": [],
            "attachments": [file.wire(base_url) for file in self.files],
            "embeds": self.embeds,
            "components": self.components,
            "pinned": False,
            "type": 0,
            "flags": 0 if self.only_for is None else EPHEMERAL,
        }

    def pressed(self, label: str) -> Wire:
        """The button or select menu that a person sees under this label or placeholder."""
        for item in self.parts():
            if label in (item.get("label"), item.get("placeholder")) and not item.get("disabled"):
                return item
        raise AssertionError(f"nothing called {label!r} can be used in: {self.components}")

    def parts(self) -> list[Wire]:
        """Its buttons and select menus."""
        return [item for row in self.components for item in row.get("components", [])]


@dataclass
class FakeChannel:
    """A channel, a category, a forum, a thread, or the direct messages with one person."""

    id: int
    guild_id: int
    name: str
    type: int = TEXT
    parent_id: int | None = None
    topic: str | None = None
    owner_id: int = 0
    archived: bool = False
    """Of a thread."""
    messages: list[FakeMessage] = field(default_factory=list)

    def wire(self) -> Wire:
        """As Discord shows it."""
        shown: Wire = {
            "id": str(self.id),
            "guild_id": str(self.guild_id),
            "name": self.name,
            "type": self.type,
            "position": 0,
            "parent_id": str(self.parent_id) if self.parent_id else None,
            "topic": self.topic,
            "nsfw": False,
            "permission_overwrites": [],
            "rate_limit_per_user": 0,
            "flags": 0,
        }
        if self.type == FORUM:
            shown |= {"available_tags": [], "default_auto_archive_duration": 10080}
        if self.type == THREAD:
            shown |= {
                "owner_id": str(self.owner_id),
                "message_count": len(self.messages),
                "total_message_sent": len(self.messages),
                "member_count": 1,
                "thread_metadata": {
                    "archived": self.archived,
                    "auto_archive_duration": 10080,
                    "archive_timestamp": _now(),
                    "locked": False,
                },
            }
        return shown


@dataclass
class FakeGuild:
    """A guild. `bot_may`: the bot's permissions in it."""

    id: int
    name: str
    everyone: FakeRole
    roles: dict[int, FakeRole] = field(default_factory=dict)
    channels: dict[int, FakeChannel] = field(default_factory=dict)
    members: dict[int, FakeUser] = field(default_factory=dict)
    commands: list[Wire] = field(default_factory=list)
    nick: str | None = None
    """The bot's."""
    bot_may: int = EVERYTHING
    scoped: bool = True
    """Whether the bot was invited with the scope of commands."""

    def wire(self) -> Wire:
        """As GUILD_CREATE shows it."""
        self.role("kernelbot").permissions = self.bot_may
        kept = [one for one in self.channels.values() if one.type != THREAD]
        return {
            "id": str(self.id),
            "name": self.name,
            "owner_id": "1",
            "roles": [role.wire() for role in self.roles.values()],
            "channels": [channel.wire() for channel in kept],
            "threads": [one.wire() for one in self.channels.values() if one.type == THREAD],
            "members": [self.member(user) for user in self.members.values()],
            "member_count": len(self.members),
            "large": False,
            "unavailable": False,
            "emojis": [],
            "stickers": [],
            "features": [],
            "voice_states": [],
            "presences": [],
            "stage_instances": [],
            "guild_scheduled_events": [],
            "soundboard_sounds": [],
            "verification_level": 0,
            "default_message_notifications": 0,
            "explicit_content_filter": 0,
            "preferred_locale": "en-US",
            "premium_tier": 0,
            "nsfw_level": 0,
            "mfa_level": 0,
            "system_channel_flags": 0,
        }

    def rest(self) -> Wire:
        """As a request for it shows it."""
        return dict.fromkeys(_UNSET) | self.wire() | _COUNTS

    def member(self, user: FakeUser) -> Wire:
        """As a member of this guild."""
        return user.member(nick=self.nick if user.bot else None)

    def channel(self, name: str) -> FakeChannel:
        """The channel of that name."""
        (found,) = (one for one in self.channels.values() if one.name == name)
        return found

    def role(self, name: str) -> FakeRole:
        """The role of that name."""
        (found,) = (one for one in self.roles.values() if one.name == name)
        return found
