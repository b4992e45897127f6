"""Discord on loopback: the REST interface and the gateway that discord.py really talks to."""

from tests.fakes.discord.model import FakeChannel, FakeGuild, FakeMessage, FakeUser, Upload
from tests.fakes.discord.people import Interaction, Person
from tests.fakes.discord.server import BOT_TOKEN, FakeDiscord, fake_discord

__all__ = [
    "BOT_TOKEN",
    "FakeChannel",
    "FakeDiscord",
    "FakeGuild",
    "FakeMessage",
    "FakeUser",
    "Interaction",
    "Person",
    "Upload",
    "fake_discord",
]
