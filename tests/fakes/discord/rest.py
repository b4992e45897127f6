"""The REST interface: who may ask, what is refused, and what changes."""

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aiohttp import web

from tests.fakes.discord import facts, limits
from tests.fakes.discord.model import (
    FORUM,
    MANAGE_CHANNELS,
    MANAGE_ROLES,
    SEND_MESSAGES,
    TEXT,
    THREAD,
    FakeChannel,
    FakeGuild,
    FakeMessage,
    FakeRole,
    Upload,
    Wire,
    snowflake,
)

if TYPE_CHECKING:
    from tests.fakes.discord.server import FakeDiscord

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
Act = Callable[[web.Request], Awaitable[object]]
FAKE: "web.AppKey[FakeDiscord]" = web.AppKey("fake")
API = "/api/v10"


class Refused(Exception):
    """An error in Discord's form."""

    def __init__(self, status: int, code: int, message: str, errors: Wire | None = None) -> None:
        super().__init__(message)
        self.status, self.code, self.errors = status, code, errors


@dataclass(frozen=True)
class Refusal:
    """A request that was answered with 400."""

    request: str
    error: Refused

    @property
    def code(self) -> int:
        """Discord's."""
        return self.error.code


def route_of(request: web.Request) -> str:
    """The path with placeholders."""
    resource = request.match_info.route.resource
    return resource.canonical.removeprefix(API) if resource else request.path


def routes() -> list[web.RouteDef]:
    """Every path."""
    found: list[tuple[str, str, Act]] = [
        ("GET", "/users/@me", _me),
        ("GET", "/oauth2/applications/@me", _application),
        ("GET", "/gateway/bot", _gateway),
        ("PUT", "/applications/{app}/guilds/{guild}/commands", _register),
        ("GET", "/applications/{app}/guilds/{guild}/commands", _registered),
        ("GET", "/guilds/{guild}", _guild),
        ("GET", "/guilds/{guild}/channels", _channels),
        ("POST", "/guilds/{guild}/channels", _create_channel),
        ("GET", "/guilds/{guild}/roles", _roles),
        ("POST", "/guilds/{guild}/roles", _create_role),
        ("GET", "/guilds/{guild}/threads/active", _active_threads),
        ("GET", "/guilds/{guild}/members", _members),
        ("PATCH", "/guilds/{guild}/members/@me", _rename_bot),
        ("GET", "/guilds/{guild}/members/{user}", _member),
        ("PUT", "/guilds/{guild}/members/{user}/roles/{role}", _give_role),
        ("POST", "/users/@me/channels", _open_direct),
        ("GET", "/users/{user}", _user),
        ("GET", "/channels/{channel}", _channel),
        ("POST", "/channels/{channel}/messages", _send),
        ("PATCH", "/channels/{channel}/messages/{message}", _edit),
        ("DELETE", "/channels/{channel}/messages/{message}", _delete),
        ("POST", "/channels/{channel}/threads", _create_post),
        ("GET", "/channels/{channel}/threads/archived/public", _archived_threads),
        ("POST", "/channels/{channel}/messages/{message}/threads", _create_thread),
    ]
    return [
        *(web.route(m, API + path, answered(act, bot_token=True)) for m, path, act in found),
        web.get(f"{API}/gateway", answered(_gateway, bot_token=False)),
        web.get("/attachments/{id}/{name}", _download),
    ]


def answered(act: Act, *, bot_token: bool) -> Handler:
    """The route of an act, with its refusals in Discord's form."""

    async def handler(request: web.Request) -> web.StreamResponse:
        from tests.fakes.discord.server import BOT_TOKEN

        fake = request.app[FAKE]
        try:
            if bot_token and request.headers.get("Authorization") != f"Bot {BOT_TOKEN}":
                raise Refused(401, 0, "401: Unauthorized")
            wanted = facts.request_faults(
                request.method, route_of(request), list(request.query), await _json_of(request)
            )
            fake.contradictions += wanted
            body = await act(request)
        except Refused as error:
            if error.status == 400:
                fake.refused.append(Refusal(f"{request.method} {route_of(request)}", error))
            await fake.changed()
            answer: Wire = {"code": error.code, "message": str(error)}
            answer |= {"errors": error.errors} if error.errors else {}
            return json_answer(answer, error.status)
        await fake.changed()
        route = facts.ROUTES.get((request.method, route_of(request)))
        status = 204 if body is None else route.status if route else 200
        fake.contradictions += facts.answer_faults(request.method, route_of(request), status, body)
        return web.Response(status=204) if body is None else json_answer(body, status)

    return handler


async def _json_of(request: web.Request) -> object:
    """What a request says, without its files."""
    if request.content_type == "multipart/form-data":
        return json.loads(str((await request.post())["payload_json"]))
    return json.loads(await request.text() or "null")


def json_answer(
    body: object, status: int = 200, headers: dict[str, str] | None = None
) -> web.Response:
    """JSON under the one content type by which discord.py recognises it."""
    content = json.dumps(body).encode()
    return web.Response(
        body=content, status=status, headers=headers, content_type="application/json"
    )


async def payload_of(request: web.Request) -> tuple[Wire, list[Upload]]:
    """The JSON of a request and its files, however it was sent."""
    if request.content_type != "multipart/form-data":
        return json.loads(await request.text() or "{}"), []
    form = await request.post()
    files = []
    for key, value in form.items():
        if isinstance(value, web.FileField):
            assert key.startswith("files["), key
            files.append(Upload(value.filename, value.file.read()))
    return json.loads(str(form["payload_json"])), files


def check(faults: list[str]) -> None:
    """Raise `Refused` if there are any."""
    if faults:
        raise Refused(400, 50035, "Invalid Form Body: " + "; ".join(faults))


def _guild_of(request: web.Request) -> FakeGuild:
    found = request.app[FAKE].guilds.get(int(request.match_info["guild"]))
    if found is None:
        raise Refused(404, 10004, "Unknown Guild")
    return found


def _channel_of(request: web.Request) -> FakeChannel:
    found = request.app[FAKE].channel(int(request.match_info["channel"]))
    if found is None:
        raise Refused(404, 10003, "Unknown Channel")
    return found


def _message_of(request: web.Request, channel: FakeChannel) -> FakeMessage:
    wanted = int(request.match_info["message"])
    for message in channel.messages:
        if message.id == wanted and not message.deleted and message.only_for is None:
            return message
    raise Refused(404, 10008, "Unknown Message")


def _require(guild: FakeGuild | None, permission: int) -> None:
    if guild is not None and not guild.bot_may & permission:
        raise Refused(403, 50013, "Missing Permissions")


async def _me(request: web.Request) -> object:
    return request.app[FAKE].bot.wire() | {"locale": "en-US", "mfa_enabled": False}


async def _application(request: web.Request) -> object:
    fake = request.app[FAKE]
    flags = (1 << 15) * ("members" in fake.gateway.allowed)
    flags |= (1 << 19) * ("message content" in fake.gateway.allowed)
    return {
        "id": str(fake.application_id),
        "name": "kernelbot",
        "description": "",
        "icon": None,
        "bot_public": False,
        "bot_require_code_grant": False,
        "owner": fake.bot.wire(),
        "team": None,
        "verify_key": "",
        "flags": flags,
        "flags_new": str(flags),
        "type": None,
        "approximate_guild_count": len(fake.guilds),
        "approximate_user_authorization_count": 0,
        "approximate_user_install_count": 0,
        "eligible_oauth2_scopes": [],
        "explicit_content_filter": 0,
        "interactions_endpoint_url": None,
        "redirect_uris": [],
        "role_connections_verification_url": None,
    }


async def _gateway(request: web.Request) -> object:
    sessions = {"total": 1000, "remaining": 1000, "reset_after": 0, "max_concurrency": 1}
    url = request.app[FAKE].url.replace("http", "ws") + "/gateway"
    return {"url": url, "shards": 1, "session_start_limit": sessions}


async def _register(request: web.Request) -> object:
    commands = await request.json()
    check(limits.command_faults(commands))
    guild = _guild_of(request)
    if not guild.scoped:
        raise Refused(403, 50001, "Missing Access")
    app = request.match_info["app"]
    guild.commands = [
        {
            "description": "",  # of a context menu's command, too
            **command,
            "id": str(snowflake()),
            "application_id": app,
            "guild_id": str(guild.id),
            "version": "1",
            "default_member_permissions": command.get("default_member_permissions"),
        }
        for command in commands
    ]
    return guild.commands


async def _registered(request: web.Request) -> object:
    if not _guild_of(request).scoped:
        raise Refused(403, 50001, "Missing Access")
    return _guild_of(request).commands


async def _guild(request: web.Request) -> object:
    return _guild_of(request).rest()


async def _channels(request: web.Request) -> object:
    return [one.wire() for one in _guild_of(request).channels.values() if one.type != THREAD]


async def _create_channel(request: web.Request) -> object:
    guild = _guild_of(request)
    _require(guild, MANAGE_CHANNELS)
    asked, _ = await payload_of(request)
    parent = int(asked["parent_id"]) if asked.get("parent_id") else None
    there = [one for one in guild.channels.values() if one.type != THREAD]
    if len(there) >= limits.CHANNELS:
        raise Refused(400, 30013, f"Maximum number of guild channels reached ({limits.CHANNELS})")
    if parent and sum(one.parent_id == parent for one in there) >= limits.IN_CATEGORY:
        raise _full_category()
    made = FakeChannel(
        snowflake(), guild.id, asked["name"], asked["type"], parent, asked.get("topic")
    )
    guild.channels[made.id] = made
    await request.app[FAKE].gateway.dispatch("CHANNEL_CREATE", made.wire())
    return made.wire()


def _full_category() -> Refused:
    text = f"Maximum number of channels in category reached ({limits.IN_CATEGORY})"
    fault = {"code": "CHANNEL_PARENT_MAX_CHANNELS", "message": text}
    return Refused(400, 50035, "Invalid Form Body", {"parent_id": {"_errors": [fault]}})


async def _roles(request: web.Request) -> object:
    return [role.wire() for role in _guild_of(request).roles.values()]


async def _create_role(request: web.Request) -> object:
    guild = _guild_of(request)
    _require(guild, MANAGE_ROLES)
    asked, _ = await payload_of(request)
    if len(guild.roles) >= limits.ROLES:
        raise Refused(400, 30005, f"Maximum number of guild roles reached ({limits.ROLES})")
    role = FakeRole(snowflake(), asked["name"], int(asked.get("permissions", 0)))
    guild.roles[role.id] = role
    event = {"guild_id": str(guild.id), "role": role.wire()}
    await request.app[FAKE].gateway.dispatch("GUILD_ROLE_CREATE", event)
    return role.wire()


async def _rename_bot(request: web.Request) -> object:
    guild = _guild_of(request)
    asked, _ = await payload_of(request)
    guild.nick = asked.get("nick") or None
    return guild.member(request.app[FAKE].bot)


async def _members(request: web.Request) -> object:
    """In pages, in the order of their ids."""
    if "members" not in request.app[FAKE].gateway.allowed:
        raise Refused(403, 50001, "Missing Access")
    asked, found = request.query, _guild_of(request).members
    after, limit = int(asked.get("after", 0)), int(asked.get("limit", 1))
    check([f"limit: {limit}"] if not 1 <= limit <= limits.MEMBERS else [])
    return [found[one].member() for one in sorted(found) if one > after][:limit]


async def _member(request: web.Request) -> object:
    found = _guild_of(request).members.get(int(request.match_info["user"]))
    if found is None:
        raise Refused(404, 10007, "Unknown Member")
    return found.member()


async def _give_role(request: web.Request) -> object:
    guild = _guild_of(request)
    _require(guild, MANAGE_ROLES)
    guild.members[int(request.match_info["user"])].roles.add(int(request.match_info["role"]))
    return None


async def _user(request: web.Request) -> object:
    found = request.app[FAKE].users.get(int(request.match_info["user"]))
    if found is None:
        raise Refused(404, 10013, "Unknown User")
    return found.wire() | {"primary_guild": None}


async def _open_direct(request: web.Request) -> object:
    fake = request.app[FAKE]
    asked, _ = await payload_of(request)
    user = fake.users[int(asked["recipient_id"])]
    channel = fake.direct_channel(user.id)
    return {"id": str(channel.id), "type": 1, "flags": 0, "recipients": [user.wire()]}


async def _channel(request: web.Request) -> object:
    return _channel_of(request).wire()


async def _send(request: web.Request) -> object:
    fake, channel = request.app[FAKE], _channel_of(request)
    _require(fake.guilds.get(channel.guild_id), SEND_MESSAGES)
    if channel.owner_id in fake.users and not fake.users[channel.owner_id].direct_messages:
        raise Refused(403, 50007, "Cannot send messages to this user")
    if channel.type not in (TEXT, THREAD, 1):
        raise Refused(400, 50008, "Cannot send messages in a non-text channel")
    payload, files = await payload_of(request)
    nonce = payload.get("nonce") if payload.get("enforce_nonce") else None
    sent = fake.sent.get(nonce) if nonce is not None else None
    if sent is not None:  # of any channel: Discord's documentation names the author alone
        return sent.wire(fake.url)
    message = new_message(fake, channel, payload, files)
    if nonce is not None:
        fake.sent[nonce] = message
    await fake.add_message(message, None)
    return message.wire(fake.url)


def new_message(
    fake: "FakeDiscord", channel: FakeChannel, payload: Wire, files: list[Upload]
) -> FakeMessage:
    """A message of the bot's, not yet sent."""
    check(limits.message_faults(payload, files))
    content, embeds = payload.get("content") or "", payload.get("embeds") or []
    if not (content or embeds or files):
        raise Refused(400, 50006, "Cannot send an empty message")
    for file in files:
        fake.uploads[file.id] = file
    parts = payload.get("components") or []
    return FakeMessage(snowflake(), channel.id, fake.bot, content, parts, files, embeds)


async def _edit(request: web.Request) -> object:
    fake = request.app[FAKE]
    message = _message_of(request, _channel_of(request))
    if message.author is not fake.bot:
        raise Refused(403, 50005, "Cannot edit a message authored by another user")
    await change(fake, message, *await payload_of(request))
    return message.wire(fake.url)


async def change(
    fake: "FakeDiscord", message: FakeMessage, payload: Wire, files: list[Upload]
) -> None:
    """Change a message of the bot's."""
    check(limits.message_faults(payload, files))
    message.content = payload.get("content", message.content) or ""
    message.components = payload.get("components", message.components) or []
    message.embeds = payload.get("embeds", message.embeds) or []
    if "attachments" in payload:
        kept = {int(one["id"]) for one in payload["attachments"] if int(one["id"]) > 100}
        message.files = [file for file in message.files if file.id in kept]
    for file in files:
        fake.uploads[file.id] = file
        message.files.append(file)
    await fake.edited(message)


async def _delete(request: web.Request) -> object:
    _message_of(request, _channel_of(request)).deleted = True
    return None


async def _create_post(request: web.Request) -> object:
    """A thread of its own, which in a forum begins with a message."""
    fake, channel = request.app[FAKE], _channel_of(request)
    payload, files = await payload_of(request)
    check([f"name: {payload['name']}"] if not 1 <= len(payload["name"]) <= limits.NAME else [])
    thread = _new_thread(fake, channel, payload["name"], snowflake())
    shown = thread.wire()
    if channel.type == FORUM:
        message = new_message(fake, thread, payload["message"], files)
        message.id = thread.id
        await fake.add_message(message, None)
        shown["message"] = message.wire(fake.url)
    return shown


async def _create_thread(request: web.Request) -> object:
    fake, channel = request.app[FAKE], _channel_of(request)
    if channel.type != TEXT:
        raise Refused(400, 50024, "Cannot execute action on this channel type")
    message = _message_of(request, channel)
    if fake.channel(message.id) is not None:
        raise Refused(400, 160004, "A thread has already been created for this message")
    payload, _ = await payload_of(request)
    check([f"name: {payload['name']}"] if not 1 <= len(payload["name"]) <= limits.NAME else [])
    return _new_thread(fake, channel, payload["name"], message.id).wire()


def _new_thread(
    fake: "FakeDiscord", channel: FakeChannel, name: str, thread_id: int
) -> FakeChannel:
    thread = FakeChannel(thread_id, channel.guild_id, name, THREAD, channel.id)
    thread.owner_id = fake.bot.id
    fake.guilds[channel.guild_id].channels[thread.id] = thread
    return thread


async def _active_threads(request: web.Request) -> object:
    threads = _threads(_guild_of(request), archived=False)
    return {"threads": [one.wire() for one in threads], "members": [], "has_more": False}


async def _archived_threads(request: web.Request) -> object:
    channel = _channel_of(request)
    threads = _threads(request.app[FAKE].guilds[channel.guild_id], archived=True)
    mine = [one.wire() for one in threads if one.parent_id == channel.id]
    return {"threads": mine, "members": [], "has_more": False}


def _threads(guild: FakeGuild, *, archived: bool) -> list[FakeChannel]:
    found = (one for one in guild.channels.values() if one.type == THREAD)
    return [one for one in found if one.archived == archived]


async def _download(request: web.Request) -> web.StreamResponse:
    fake = request.app[FAKE]
    found = fake.uploads.get(int(request.match_info["id"]))
    fake.downloads[int(request.match_info["id"])] += 1
    if found is None:
        return web.Response(status=404)
    return web.Response(body=found.content, content_type="application/octet-stream")
