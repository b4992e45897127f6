"""People: they type, click, choose, fill in forms, and send messages with files."""

import asyncio
import secrets
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tests.fakes.discord.limits import fields, find_command
from tests.fakes.discord.model import (
    FakeChannel,
    FakeGuild,
    FakeMessage,
    FakeUser,
    Upload,
    Wire,
    snowflake,
)

if TYPE_CHECKING:
    from tests.fakes.discord.server import FakeDiscord

_COMMAND, _COMPONENT, _AUTOCOMPLETE, _FORM = 2, 3, 4, 5
_ATTACHMENT, _INTEGER, _BOOLEAN, _USER, _CHANNEL = 11, 4, 5, 6, 7
Value = str | int | bool | Upload | FakeUser | FakeChannel


@dataclass
class Interaction:
    """One use of a command, a button, a menu or a form. `messages`: what answered it."""

    kind: int
    user: FakeUser
    channel: FakeChannel
    source: FakeMessage | None = None
    """The message whose button was clicked."""
    id: int = field(default_factory=snowflake)
    token: str = field(default_factory=lambda: secrets.token_hex(20))
    created_s: float = field(default_factory=time.monotonic)
    acknowledged_s: float | None = None
    deferred_only_for: int | None = None
    """Whose eyes a deferred answer is for."""
    deferred: bool = False
    loading_id: int = field(default_factory=snowflake)
    """Of the message that a deferred answer will be."""
    messages: list[FakeMessage] = field(default_factory=list)
    suggestions: list[str] | None = None
    form: Wire | None = None
    answers: int = 0
    """How often something was said or changed in answer."""
    expired: bool = False
    """Whether its 15 minutes are over."""

    @property
    def original(self) -> FakeMessage | None:
        """The first answer, or the message that was clicked."""
        return self.messages[0] if self.messages else self.source

    @property
    def took_s(self) -> float:
        """From the click to the acknowledgement."""
        assert self.acknowledged_s is not None, "nobody has acknowledged it"
        return self.acknowledged_s - self.created_s


@dataclass
class Person:
    """Someone in a guild."""

    discord: "FakeDiscord"
    user: FakeUser
    guild: FakeGuild

    async def runs(
        self, command: str, *, channel: str = "submissions", **options: Value
    ) -> Interaction:
        """Type a slash command, and wait for its first answer: a message or a form."""
        interaction = await self.starts(command, channel=channel, **options)
        await self.discord.until(lambda: interaction.messages or interaction.form)
        return interaction

    async def starts(
        self, command: str, *, channel: str = "submissions", **options: Value
    ) -> Interaction:
        """Type a slash command, and wait for nothing."""
        words = command.split()
        known = find_command(self.guild.commands, words)
        unknown = set(options) - {option["name"] for option in known}
        assert not unknown, f"/{command} has no {unknown}"
        missing = {o["name"] for o in known if o.get("required")} - set(options)
        assert not missing, f"/{command} needs {missing}"
        resolved: Wire = {}
        given = [
            self._option(o, options[o["name"]], resolved) for o in known if o["name"] in options
        ]
        told = "".join(f" {name}:{_text(value)}" for name, value in options.items())
        self.discord.transcript.add(f"{self.user.name}: /{command}{told}")
        where = self.guild.channel(channel)
        return await self._interact(_COMMAND, where, self._data(words, given, resolved))

    async def completes(self, command: str, option: str, text: str, **others: str) -> list[str]:
        """Begin to type an option, and read what is suggested."""
        words = command.split()
        known = find_command(self.guild.commands, words)
        kind = next(one["type"] for one in known if one["name"] == option)
        given: list[Wire] = [{"name": n, "type": 3, "value": v} for n, v in others.items()]
        given.append({"name": option, "type": kind, "value": text, "focused": True})
        where = self.guild.channel("submissions")
        data = self._data(words, given, {})
        interaction = await self._interact(_AUTOCOMPLETE, where, data)
        await self.discord.until(lambda: interaction.suggestions is not None)
        assert interaction.suggestions is not None
        return interaction.suggestions

    async def clicks(self, message: FakeMessage, label: str) -> Interaction:
        """Click a button, and wait for what it does."""
        self.discord.transcript.add(f"{self.user.name} clicks {label}", self._alone(message))
        clicked = await self.presses(message, message.pressed(label)["custom_id"])
        await self.discord.until(lambda: clicked.answers or clicked.form)
        return clicked

    async def presses(
        self, message: FakeMessage, custom_id: str, kind: int = 2, values: tuple[str, ...] = ()
    ) -> Interaction:
        """Use a button or menu by its id, also one that isn't shown to this person. It waits for
        the acknowledgement alone."""
        channel = self.discord.channel(message.channel_id)
        assert channel is not None
        data: Wire = {"custom_id": custom_id, "component_type": kind}
        data |= {"values": list(values)} if kind == 3 else {}
        interaction = await self._interact(_COMPONENT, channel, data, message)
        await self.discord.until(lambda: interaction.acknowledged_s)
        return interaction

    async def chooses(self, message: FakeMessage, menu: str, *labels: str) -> Interaction:
        """Choose from a menu, and wait for what it does."""
        item = message.pressed(menu)
        values = tuple(o["value"] for o in item["options"] if o["label"] in labels)
        assert len(labels) == len(values), f"not offered: {labels}"
        chosen = ", ".join(labels)
        self.discord.transcript.add(f"{self.user.name} chooses {chosen}", self._alone(message))
        chosen_by = await self.presses(message, item["custom_id"], 3, values)
        await self.discord.until(lambda: chosen_by.answers or chosen_by.form)
        return chosen_by

    async def fills_in(self, interaction: Interaction, *texts: str) -> Interaction:
        """Fill in the form that answered an interaction, and send it."""
        assert interaction.form is not None
        items = fields(interaction.form["components"])
        rows = [
            {"type": 1, "components": [{"type": 4, "custom_id": item["custom_id"], "value": text}]}
            for item, text in zip(items, texts, strict=True)
        ]
        data = {"custom_id": interaction.form["custom_id"], "components": rows}
        self.discord.transcript.add(f"{self.user.name} sends the form", self.user.id)
        sent = await self._interact(_FORM, interaction.channel, data, interaction.source)
        await self.discord.until(lambda: sent.messages)
        return sent

    async def uses_menu(self, name: str, message: FakeMessage) -> Interaction:
        """Use a command of a message's context menu."""
        (found,) = (c for c in self.guild.commands if (c["name"], c.get("type")) == (name, 3))
        self.discord.transcript.add(f"{self.user.name} uses {name!r} on a message")
        channel = self.discord.channel(message.channel_id)
        assert channel is not None
        shown = message.wire(self.discord.url)
        data = {
            "id": found["id"],
            "name": name,
            "type": 3,
            "target_id": str(message.id),
            "resolved": {"messages": {str(message.id): shown}},
        }
        interaction = await self._interact(_COMMAND, channel, data)
        await self.discord.until(lambda: interaction.messages or interaction.form)
        return interaction

    async def says(
        self,
        text: str,
        *files: Upload,
        channel: str = "general",
        mentions_bot: bool = False,
        replies_to_bot: bool = False,
    ) -> FakeMessage:
        """Write a message. A reply mentions the bot, too, but not in its text."""
        where = self.guild.channel(channel)
        written = f"<@{self.discord.bot.id}> {text}" if mentions_bot else text
        message = FakeMessage(snowflake(), where.id, self.user, written, files=list(files))
        where.messages.append(message)
        self._keep(files)
        told = "".join(f" [file {file.name}]" for file in files)
        self.discord.transcript.add(f"{self.user.name} in #{channel}: {text}{told}")
        sent = message.wire(self.discord.url) | {
            "guild_id": str(self.guild.id),
            "member": {k: v for k, v in self.user.member().items() if k != "user"},
            "mentions": [self.discord.bot.wire()] if mentions_bot or replies_to_bot else [],
        }
        await self.discord.gateway.dispatch("MESSAGE_CREATE", sent)
        return message

    def _alone(self, message: FakeMessage) -> int | None:
        return self.user.id if message.only_for is not None else None

    def _keep(self, files: tuple[Upload, ...]) -> None:
        for file in files:
            self.discord.uploads[file.id] = file

    def _option(self, option: Wire, value: Value, resolved: Wire) -> Wire:
        sent: str | int | bool
        if isinstance(value, Upload):
            self._keep((value,))
            resolved.setdefault("attachments", {})[str(value.id)] = value.wire(self.discord.url)
            sent = str(value.id)
        elif isinstance(value, FakeUser):
            resolved.setdefault("users", {})[str(value.id)] = value.wire()
            resolved.setdefault("members", {})[str(value.id)] = value.member()
            sent = str(value.id)
        elif isinstance(value, FakeChannel):
            shown = value.wire() | {"permissions": "0"}
            resolved.setdefault("channels", {})[str(value.id)] = shown
            sent = str(value.id)
        else:
            choices = [choice["value"] for choice in option.get("choices") or []]
            assert not choices or value in choices, f"{value!r} isn't one of {choices}"
            sent = value
        return {"name": option["name"], "type": option["type"], "value": sent}

    def _data(self, words: list[str], given: list[Wire], resolved: Wire) -> Wire:
        """The command as Discord sends it: groups around their subcommand."""
        top = next(c for c in self.guild.commands if c["name"] == words[0])
        options = given
        for depth, word in enumerate(reversed(words[1:])):
            options = [{"name": word, "type": 1 if depth == 0 else 2, "options": options}]
        named = {"id": top["id"], "name": words[0], "type": 1, "options": options}
        return named | {"guild_id": str(self.guild.id), "resolved": resolved}

    async def _interact(
        self, kind: int, channel: FakeChannel, data: Wire, source: FakeMessage | None = None
    ) -> Interaction:
        interaction = Interaction(kind, self.user, channel, source)
        self.discord.interactions[interaction.token] = interaction
        sent: Wire = {
            "id": str(interaction.id),
            "application_id": str(self.discord.application_id),
            "type": kind,
            "data": data,
            "guild_id": str(self.guild.id),
            "guild": {"id": str(self.guild.id), "locale": "en-US", "features": []},
            "channel_id": str(channel.id),
            "channel": channel.wire(),
            "member": self.user.member(),
            "token": interaction.token,
            "version": 1,
            "locale": "en-US",
            "guild_locale": "en-US",
            "app_permissions": str(self.guild.bot_may),
            "attachment_size_limit": 10 << 20,
            "entitlements": [],
            "authorizing_integration_owners": {},
            "context": 0,
        }
        if source is not None:
            sent["message"] = source.wire(self.discord.url)
        interaction.created_s = time.monotonic()
        await self.discord.gateway.dispatch("INTERACTION_CREATE", sent)
        await asyncio.sleep(0)
        return interaction


def _text(value: Value) -> str:
    if isinstance(value, Upload | FakeUser | FakeChannel):
        return value.name
    return str(value)
