"""Answers to interactions: by the interaction's token, which needs no other key."""

import time
from typing import TYPE_CHECKING

from aiohttp import web

from tests.fakes.discord import limits
from tests.fakes.discord.model import EPHEMERAL, LOADING, FakeMessage, Upload, Wire
from tests.fakes.discord.rest import (
    API,
    FAKE,
    Act,
    Refused,
    answered,
    change,
    check,
    new_message,
    payload_of,
)

if TYPE_CHECKING:
    from tests.fakes.discord.people import Interaction
    from tests.fakes.discord.server import FakeDiscord

ACK_LIMIT_S = 20.0
"""Discord allows 3 s. A bot that answers at once needs more than that where many tests run."""


def routes() -> list[web.RouteDef]:
    """Every path with an interaction's token in it."""
    found: list[tuple[str, str, Act]] = [
        ("POST", "/interactions/{id}/{token}/callback", _callback),
        ("POST", "/webhooks/{app}/{token}", _follow_up),
        ("GET", "/webhooks/{app}/{token}/messages/{message}", _get_answer),
        ("PATCH", "/webhooks/{app}/{token}/messages/{message}", _edit_answer),
        ("DELETE", "/webhooks/{app}/{token}/messages/{message}", _delete_answer),
    ]
    return [web.route(m, API + path, answered(act, bot_token=False)) for m, path, act in found]


async def _callback(request: web.Request) -> object:
    fake = request.app[FAKE]
    interaction = fake.interactions.get(request.match_info["token"])
    if interaction is None or interaction.id != int(request.match_info["id"]):
        raise Refused(404, 10062, "Unknown interaction")
    if time.monotonic() - interaction.created_s > ACK_LIMIT_S:
        fake.late.append(interaction)
        raise Refused(404, 10062, "Unknown interaction")
    if interaction.acknowledged_s is not None:
        raise Refused(400, 40060, "Interaction has already been acknowledged.")
    sent, files = await payload_of(request)
    message = await _acknowledge(fake, interaction, sent, files)
    if request.query.get("with_response") not in ("1", "true"):
        return None
    shown: Wire = {"id": str(interaction.id), "type": interaction.kind}
    resource: Wire = {"type": sent["type"]}
    if message is not None:
        shown["response_message_id"] = str(message.id)
        resource["message"] = message.wire(fake.url)
    return {"interaction": shown, "resource": resource}


async def _acknowledge(
    fake: "FakeDiscord", interaction: "Interaction", sent: Wire, files: list[Upload]
) -> FakeMessage | None:
    """Do what the answer says; returns the message that it made or changed."""
    data = sent.get("data") or {}
    only_for = interaction.user.id if data.get("flags", 0) & EPHEMERAL else None
    message: FakeMessage | None = None
    match sent["type"]:
        case 4:
            message = new_message(fake, interaction.channel, data, files)
            message.only_for = only_for
        case 5:
            interaction.deferred, interaction.deferred_only_for = True, only_for
        case 7:
            message = interaction.source
        case 8:
            check(limits.choice_faults(data["choices"]))
            interaction.suggestions = [choice["name"] for choice in data["choices"]]
        case 9:
            check(limits.modal_faults(data))
            interaction.form = data
            fake.transcript.add(f"bot shows the form {data['title']!r}", interaction.user.id)
    interaction.acknowledged_s = time.monotonic()
    if message is not None and sent["type"] == 4:
        await fake.add_message(message, interaction)
    elif message is not None:
        interaction.answers += 1
        await change(fake, message, data, files)
    return message


def _by_token(request: web.Request) -> "tuple[FakeDiscord, Interaction]":
    fake = request.app[FAKE]
    interaction = fake.interactions.get(request.match_info["token"])
    if interaction is None or interaction.expired:
        raise Refused(401, 50027, "Invalid Webhook Token")
    if interaction.acknowledged_s is None:
        raise Refused(404, 10015, "Unknown Webhook")
    return fake, interaction


def _answer_of(request: web.Request, interaction: "Interaction") -> FakeMessage:
    wanted = request.match_info["message"]
    if wanted == "@original":
        found = interaction.original
    else:
        sent = [one for one in [*interaction.messages, interaction.source] if one is not None]
        found = next((one for one in sent if one.id == int(wanted)), None)
    if found is None or found.deleted:
        raise Refused(404, 10008, "Unknown Message")
    return found


async def _follow_up(request: web.Request) -> object:
    fake, interaction = _by_token(request)
    payload, files = await payload_of(request)
    message = new_message(fake, interaction.channel, payload, files)
    if payload.get("flags", 0) & EPHEMERAL:
        message.only_for = interaction.user.id
    if interaction.deferred and not interaction.messages:
        message.only_for = interaction.deferred_only_for
    await fake.add_message(message, interaction)
    return message.wire(fake.url) if request.query.get("wait") in ("1", "true") else None


async def _get_answer(request: web.Request) -> object:
    fake, interaction = _by_token(request)
    if _is_awaited(request, interaction):
        loading = FakeMessage(interaction.loading_id, interaction.channel.id, fake.bot)
        return loading.wire(fake.url) | {"flags": LOADING}
    return _answer_of(request, interaction).wire(fake.url)


def _is_awaited(request: web.Request, interaction: "Interaction") -> bool:
    """Whether it is about a deferred answer of which Discord only shows yet that it is awaited."""
    named = request.match_info["message"] in ("@original", str(interaction.loading_id))
    return named and interaction.deferred and not interaction.messages


async def _edit_answer(request: web.Request) -> object:
    fake, interaction = _by_token(request)
    payload, files = await payload_of(request)
    if _is_awaited(request, interaction):
        message = new_message(fake, interaction.channel, payload, files)
        message.id = interaction.loading_id
        message.only_for = interaction.deferred_only_for
        await fake.add_message(message, interaction)
    else:
        message = _answer_of(request, interaction)
        interaction.answers += 1
        await change(fake, message, payload, files)
    return message.wire(fake.url)


async def _delete_answer(request: web.Request) -> object:
    _, interaction = _by_token(request)
    _answer_of(request, interaction).deleted = True
    return None
